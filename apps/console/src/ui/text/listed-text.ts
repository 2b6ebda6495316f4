/** The words of a text that a person typed as a list: by commas, spaces or lines, each once. */
export const wordsOf = (text: string): string[] => [...new Set(text.split(/[\s,]+/).filter(Boolean))];

/** The lines of a text, each once: for what may have spaces and commas in itself. */
export const linesOf = (text: string): string[] => [
  ...new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean),
  ),
];

/** Pairs as they are typed: `team=search,tier=1`. */
export const pairsText = (pairs: object, separator = ','): string =>
  Object.entries(pairs)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(separator);
