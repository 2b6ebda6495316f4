/**
 * An absolute path on a host: two segments, or one with a file extension, of POSIX, also with escaped separators (`\/`,
 * `%2F`) or right after an option (`-m/srv/x`); of a drive; or of a share (`\\host\x`). Letters of all scripts count.
 * Paths of the API (`/v1/…`) and the path of a URL do not match.
 */
const HOST_PATH =
  /file:\/\/\S+|(?:(?<![\p{L}\p{N}_./\\-])|(?<=(?:^|[\s"'`=,([])-[A-Za-z]))~?(?!(?:\\{0,3}\/|%2f)v1(?![\p{L}\p{N}_.-]))(?:(?:(?:\\{0,3}\/|%2f)(?:[\p{L}\p{M}\p{N}_.@+~=-]|%(?!2f)[\da-f]{2})+){2,}\/?|(?:\\{0,3}\/|%2f)[\p{L}\p{M}\p{N}_@+~=-]+\.[a-z]\w{0,15}\b)|\b[a-z]:\\[\p{L}\p{M}\p{N}_.@+~\\ -]+|(?<!\\)\\{2,4}(?!u[\da-f]{4})[\p{L}\p{N}_.-]{2,}\\{1,2}[\p{L}\p{M}\p{N}_.$@+~-]{2}[\p{L}\p{M}\p{N}_.$@+~\\ -]*/giu;

/** Whether a text contains a path on a host. */
export function isHostPath(text: string): boolean {
  // Most texts contain none of these characters and need no search.
  return /[\\/%]/.test(text) && text.search(HOST_PATH) >= 0;
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
