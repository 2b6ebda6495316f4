const MOST_SHOWN = 10;
const LONGEST_SHOWN = 80;
/**
 * Control characters, surrogates and marks that change the direction of a text. A stranger wrote the text, and people
 * read it.
 */
const UNSHOWABLE = /[^\p{L}\p{N}\p{P}\p{S} ]/gu;

/** Whether a list names the model. Ollama lists `llama3:latest` and answers to `llama3`. */
export function isListed(model: string, names: readonly string[]): boolean {
  return names.includes(model) || names.includes(`${model}:latest`);
}

/** Whether a server with this list has the model; the reason if the list does not show it. */
export function checkModelList(model: string, names: readonly string[]): { has: boolean } | { unknown: string } {
  if (names.length === 0) return { unknown: 'it lists no models' };
  if (isListed(model, names)) return { has: true };
  // A broker lists a pattern for all models that it passes on.
  if (names.some((name) => name.includes('*'))) return { unknown: 'it lists patterns instead of models' };
  return { has: false };
}

/** A text for people: some of the names, shortened, and without characters that would break a text. */
export function describeModels(names: readonly string[]): string {
  const more = names.length > MOST_SHOWN ? ` and ${names.length - MOST_SHOWN} more` : '';
  return `${names.slice(0, MOST_SHOWN).map(shown).join(', ')}${more}`;
}

function shown(name: string): string {
  const short = name.length > LONGEST_SHOWN ? `${name.slice(0, LONGEST_SHOWN)}…` : name;
  return short.replace(UNSHOWABLE, '?');
}
