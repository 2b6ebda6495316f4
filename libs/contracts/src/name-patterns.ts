/* Patterns of names that have a dot: types of events (`rollout.started`) and actions of the audit log. */

/** Returns the names and, for each first part, the pattern that covers it (`rollout.*`); sorted. */
export function patternsOf(names: readonly string[]): string[] {
  const families = names.map((name) => `${name.slice(0, name.indexOf('.'))}.*`);
  return [...new Set([...names, ...families])].sort();
}

/** Returns the names that a pattern covers. */
export function namesOf(pattern: string, names: readonly string[]): string[] {
  if (!pattern.endsWith('.*')) return names.filter((name) => name === pattern);
  return names.filter((name) => name.startsWith(pattern.slice(0, -1)));
}
