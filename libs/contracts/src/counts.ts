/** `1 request`, `2 requests`, `0 requests`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The beginning of a sentence: `1 request is`, `2 requests are`. */
export const countedAre = (count: number, noun: string): string =>
  `${counted(count, noun)} ${count === 1 ? 'is' : 'are'}`;
