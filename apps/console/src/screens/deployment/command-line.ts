/** A text as one word of a shell, quoted where it has to be. */
export const shellWord = (text: string): string =>
  /^[\w./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
