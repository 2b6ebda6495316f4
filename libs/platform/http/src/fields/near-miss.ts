/** Longer names are not typing errors, and comparing them is work that any client could cause. */
const MAX_LENGTH = 40;
const MAX_SLIPS = 3;

/**
 * Returns the known name that a given one was probably meant to be. It equals the given name except for case,
 * separators and a few letters (one in three, at most 3). If there is none, it is the only known name that contains
 * the given one as a word (`url`, `base_url`). Returns undefined if no name is near.
 */
export function nearest(given: string, known: Iterable<string>): string | undefined {
  if (given.length > MAX_LENGTH) return undefined;
  const letters = lettersOf(given);
  if (letters === '') return undefined;
  let best: { name: string; slips: number } | undefined;
  const withWord: string[] = [];
  for (const name of known) {
    const limit = Math.min(MAX_SLIPS, Math.floor(letters.length / 3), (best?.slips ?? Infinity) - 1);
    const slips = name.length > MAX_LENGTH ? Infinity : slipsBetween(letters, lettersOf(name), limit);
    if (slips <= limit) best = { name, slips };
    if (name.split('_').includes(letters)) withWord.push(name);
  }
  return best?.name ?? (withWord.length === 1 ? withWord[0] : undefined);
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[_\-. ]/g, '');
}

/**
 * Counts letters added, lost, changed or exchanged with their neighbour (optimal string alignment). Returns `Infinity`
 * beyond the limit.
 */
function slipsBetween(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) > limit) return Infinity;
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isSame = one[i - 1] === other[j - 1];
      const isExchanged = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1));
      if (isExchanged) row[j] = Math.min(row[j]!, before[j - 2]! + 1);
    }
    [before, last] = [last, row];
  }
  return last[other.length]!;
}
