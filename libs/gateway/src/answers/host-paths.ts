/**
 * An absolute path on a host (POSIX or Windows): two segments, or one with a file extension. Paths of the API (`/v1/…`)
 * and the path of a URL do not match.
 */
const HOST_PATH =
  /file:\/\/\S+|(?<![\w./-])~?(?!\/v1\b)(?:(?:\/[\w.@+~-]+){2,}\/?|\/[\w@+~-]+\.[A-Za-z]\w{0,15}\b)|\b[A-Za-z]:\\[\w.@+~\\ -]+/g;

/** Whether a text contains a path on a host. */
export function isHostPath(text: string): boolean {
  // Most texts contain neither character and need no search.
  return (text.includes('/') || text.includes('\\')) && text.search(HOST_PATH) >= 0;
}

/**
 * Removes file paths from an engine's text, as far as a text shows them: a path with blanks is hidden up to the first
 * blank.
 * @param modelId the model requested from the engine, often a path itself
 * @param asked the name that the client requested
 */
export function withoutHostPaths(text: string, modelId: string, asked: string): string {
  // A short name is part of many unrelated words.
  const named = modelId.length < 4 ? text : text.replaceAll(modelId, () => asked);
  return named.replaceAll(HOST_PATH, '[path]');
}
