import { sortedBuckets, type Histogram } from '../statistics/histogram.js';

/*
 * Histograms as short texts: `<sum> <sum of squares> <lowest bucket> <counts>`. The counts are those of the lowest bucket
 * and of all after it, mostly one character each. A histogram of JSON is three times as long, and reading a week of them
 * costs its length.
 *
 * A count is written in base 57 and 31: the characters `#` to `[` are its last digit, after characters from `]` on that
 * are the digits before it, from 1 to 31 (so no leading zero is needed). `!` and a number stand for so many empty buckets.
 * None of these is escaped in JSON, and none is `|`.
 */

const LAST = '#'.charCodeAt(0);
const LAST_DIGITS = 57;
const FIRST = ']'.charCodeAt(0);
const FIRST_DIGITS = 31;
const EMPTY = '!';
const EMPTY_CODE = EMPTY.charCodeAt(0);

/** Returns the empty text for an empty histogram. Sums are rounded to a thousandth. */
export function packHistogram(histogram: Histogram): string {
  const buckets = sortedBuckets(histogram);
  const [first] = buckets;
  if (!first) return '';
  let next = first[0];
  let counts = '';
  for (const [bucket, count] of buckets) {
    if (bucket > next) counts += EMPTY + numberText(bucket - next);
    counts += numberText(count);
    next = bucket + 1;
  }
  return `${rounded(histogram.sum)} ${rounded(histogram.sq)} ${first[0]} ${counts}`;
}

/** Reads the part of a text from `from` to `to`, which is a packed histogram. */
export function unpackHistogram(text: string, from = 0, to = text.length): Histogram {
  const b: Record<string, number> = {};
  if (from >= to) return { n: 0, sum: 0, sq: 0, b };
  const afterSum = text.indexOf(' ', from);
  const afterSquares = text.indexOf(' ', afterSum + 1);
  const afterLowest = text.indexOf(' ', afterSquares + 1);
  let bucket = Number(text.slice(afterSquares + 1, afterLowest));
  let n = 0;
  let before = 0;
  let isEmpty = false;
  for (let at = afterLowest + 1; at < to; at += 1) {
    const code = text.charCodeAt(at);
    if (code === EMPTY_CODE) isEmpty = true;
    else if (code >= FIRST) before = before * FIRST_DIGITS + code - FIRST + 1;
    else {
      const count = before * LAST_DIGITS + code - LAST;
      before = 0;
      if (isEmpty) bucket += count;
      else {
        b[bucket] = count;
        n += count;
        bucket += 1;
      }
      isEmpty = false;
    }
  }
  return { n, sum: Number(text.slice(from, afterSum)), sq: Number(text.slice(afterSum + 1, afterSquares)), b };
}

function numberText(value: number): string {
  let text = String.fromCharCode(LAST + (value % LAST_DIGITS));
  for (let rest = Math.floor(value / LAST_DIGITS); rest > 0; rest = Math.floor((rest - 1) / FIRST_DIGITS))
    text = String.fromCharCode(FIRST + ((rest - 1) % FIRST_DIGITS)) + text;
  return text;
}

function rounded(value: number): number {
  // Larger numbers have no thousandths.
  return value < 1e12 ? Math.round(value * 1e3) / 1e3 : value;
}
