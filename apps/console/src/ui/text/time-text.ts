const UNITS: [string, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
];

/** `2026-11-23 18:04:05 UTC`, as in logs. */
export const utcText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** Formats a duration with its two largest units: `1 h 5 min`. */
export function lengthText(ms: number): string {
  const length = Math.max(0, ms);
  if (length < 1000) return `${Math.round(length)} ms`;
  const first = UNITS.findIndex(([, size]) => length >= size);
  const [unit, size] = UNITS[first]!;
  const whole = Math.floor(length / size);
  const next = UNITS[first + 1];
  const rest = next ? Math.floor((length - whole * size) / next[1]) : 0;
  return rest > 0 ? `${whole} ${unit} ${rest} ${next![0]}` : `${whole} ${unit}`;
}

/** Formats how long ago, or how long until. Clocks differ, so a second ahead is still now. */
export function inWords(ms: number): string {
  if (ms < -2000) return `in ${lengthText(-ms)}`;
  return ms < 1000 ? 'now' : `${lengthText(ms)} ago`;
}
