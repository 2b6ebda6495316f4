/** The words of a text that a person typed as a list: by commas, spaces or lines, each once. */
export const wordsOf = (text: string): string[] => [...new Set(text.split(/[\s,]+/).filter(Boolean))];
