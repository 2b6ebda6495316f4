/** One piece of an instance's output, redacted: whole lines of one stream. */
export interface LogLine {
  stream: 'stdout' | 'stderr';
  /** RFC 3339, where the target knows it. */
  at?: string;
  text: string;
}

export interface LogOptions {
  /** Last lines, 1..10,000. */
  tail: number;
  /** Only what was written from then on, RFC 3339. */
  since?: string;
  stream: 'stdout' | 'stderr' | 'both';
  /** The last generation that is over, instead of the newest. */
  previous: boolean;
  /** Goes on until the signal fires, with what is written meanwhile. */
  follow: boolean;
  signal: AbortSignal;
  /** Values that must not be shown, beside what looks like a secret and what the target itself remembers: the caller may know them. */
  secrets?: readonly string[];
}
