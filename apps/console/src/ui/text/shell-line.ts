/** A line for a POSIX shell whose words stay what they are: they may have come from anywhere. */
export const shellLine = (...words: string[]): string => words.map(shellWord).join(' ');

export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
