/** Makes a line for a POSIX shell in which each word is quoted, because it may come from anywhere. */
export const shellLine = (...words: string[]): string => words.map(shellWord).join(' ');

export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** An action as lines that do the same. */
export interface ActionCommands {
  /** The request as the api accepts it; undefined fields are left out. */
  curl: { method: string; path: string; body?: unknown; headers?: Record<string, string> };
  /** `slipway …` */
  cli: string;
}
