const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const LONG_DAY = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)';
const TIME = '(\\d{2}):(\\d{2}):(\\d{2})';
const MONTH = `(${MONTHS.join('|')})`;

/** The three forms of a date in RFC 9110 5.6.7. A recipient must accept all of them; all are in UTC. */
const FORMS: { pattern: RegExp; order: readonly ('day' | 'month' | 'year' | 'hour' | 'minute' | 'second')[] }[] = [
  {
    pattern: new RegExp(`^${DAY}, (\\d{2}) ${MONTH} (\\d{4}) ${TIME} GMT$`),
    order: ['day', 'month', 'year', 'hour', 'minute', 'second'],
  },
  {
    pattern: new RegExp(`^${LONG_DAY}, (\\d{2})-${MONTH}-(\\d{2}) ${TIME} GMT$`),
    order: ['day', 'month', 'year', 'hour', 'minute', 'second'],
  },
  {
    pattern: new RegExp(`^${DAY} ${MONTH} ([ \\d]\\d) ${TIME} (\\d{4})$`),
    order: ['month', 'day', 'hour', 'minute', 'second', 'year'],
  },
];

/** The values of a header: several if the server sent it several times. */
type Header = string | readonly string[] | undefined;

/**
 * Returns the wait that a server requests with `Retry-After`, in milliseconds; undefined if it requests none. It is
 * a number of seconds or a date. A date in the past is no wait, and a value of another form is ignored. It has no upper
 * bound, because how long a caller can wait depends on the caller.
 * @param date the `Date` header of the same answer: with it, a wrong clock of the server changes nothing
 */
export function retryAfterMs(retryAfter: Header, date: Header, nowMs: number): number | undefined {
  const [sentAt] = valuesOf(date);
  const waits = valuesOf(retryAfter).map((text) => waitOf(text.trim(), sentAt, nowMs));
  const known = waits.filter((wait) => wait !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
}

function valuesOf(header: Header): readonly string[] {
  if (header === undefined) return [];
  return typeof header === 'string' ? [header] : header;
}

function waitOf(text: string, date: string | undefined, nowMs: number): number | undefined {
  // Any number of digits: more than a number can hold is Infinity, which the bound of the caller ends.
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const until = httpDateMs(text, nowMs);
  if (until === undefined) return undefined;
  const sentAt = date === undefined ? undefined : httpDateMs(date.trim(), nowMs);
  return Math.max(0, until - (sentAt ?? nowMs));
}

/** Reads a date of HTTP. `Date.parse` would read the oldest form in the time zone of this machine. */
function httpDateMs(text: string, nowMs: number): number | undefined {
  for (const { pattern, order } of FORMS) {
    const parts = pattern.exec(text)?.slice(1);
    if (!parts) continue;
    const of = (name: (typeof order)[number]) => parts[order.indexOf(name)]!;
    const month = MONTHS.indexOf(of('month'));
    const day = Number(of('day'));
    const year = yearOf(of('year'), nowMs);
    const [hour, minute, second] = [Number(of('hour')), Number(of('minute')), Number(of('second'))];
    // 60 is a leap second.
    if (hour > 23 || minute > 59 || second > 60) return undefined;
    const at = Date.UTC(year, month, day, hour, minute, Math.min(second, 59));
    return new Date(at).getUTCDate() === day ? at : undefined;
  }
  return undefined;
}

/** Two digits that appear to be more than 50 years in the future are of the past century. */
function yearOf(digits: string, nowMs: number): number {
  if (digits.length === 4) return Number(digits);
  const thisYear = new Date(nowMs).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(digits);
  return year > thisYear + 50 ? year - 100 : year;
}
