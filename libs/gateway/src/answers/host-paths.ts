/**
 * An absolute path of a host, of POSIX or of Windows: two steps, or one with an ending. A path of the API (`/v1/…`) is none, nor is
 * what stands behind the host of a URL.
 */
const HOST_PATH =
  /file:\/\/\S+|(?<![\w./-])~?(?!\/v1\b)(?:(?:\/[\w.@+~-]+){2,}\/?|\/[\w@+~-]+\.[A-Za-z]\w{0,15}\b)|\b[A-Za-z]:\\[\w.@+~\\ -]+/g;

/** Whether a text contains one. */
export function isHostPath(text: string): boolean {
  // Most texts have neither, and then there is nothing to look for.
  return (text.includes('/') || text.includes('\\')) && text.search(HOST_PATH) >= 0;
}

/**
 * An engine's words without the paths of its files, as far as that can be told from a text: a path with blanks is hidden
 * up to the first.
 * @param modelId what the engine was asked for, often a path itself
 * @param asked what the client asked for
 */
export function withoutHostPaths(text: string, modelId: string, asked: string): string {
  // A short name stands in many words that do not mean it.
  const named = modelId.length < 4 ? text : text.replaceAll(modelId, () => asked);
  return named.replaceAll(HOST_PATH, '[path]');
}
