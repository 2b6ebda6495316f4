/** Makes a line for a POSIX shell in which each word is quoted, because it may come from anywhere. */
export const shellLine = (...words: string[]): string => words.map(shellWord).join(' ');

export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
