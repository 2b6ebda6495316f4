/** Splits a typed list into its words: by commas, spaces or lines, each once. */
export const wordsOf = (text: string): string[] => [...new Set(text.split(/[\s,]+/).filter(Boolean))];

/** Splits a text into its lines, each once: for values that may contain spaces and commas. */
export const linesOf = (text: string): string[] => [
  ...new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean),
  ),
];

/** Formats pairs as they are typed: `team=search,tier=1`. */
export const pairsText = (pairs: object, separator = ','): string =>
  Object.entries(pairs)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(separator);
