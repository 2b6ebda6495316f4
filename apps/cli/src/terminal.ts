import type { Readable, Writable } from 'node:stream';

export interface Streams {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean; columns?: number };
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** For other programs, such as the browser: they need no token. */
export function withoutToken({ SLIPWAY_TOKEN: _token, ...others }: Environment): NodeJS.ProcessEnv {
  return others;
}

type OutputStream = 'stdout' | 'stderr';

/** The three streams, and what their terminal can show. */
export class Terminal {
  constructor(
    readonly streams: Streams,
    private readonly env: Environment,
  ) {}

  /** A person reads this stream: cells may be cut, and lines redrawn. */
  isTerminal(side: OutputStream): boolean {
    return this.streams[side].isTTY === true;
  }

  /** Whether a person can answer a prompt. */
  get isInteractive(): boolean {
    return this.streams.stdin.isTTY === true && this.isTerminal('stderr') && !this.isPipeline;
  }

  hasColour(side: OutputStream): boolean {
    return this.isTerminal(side) && !this.env['NO_COLOR'] && !this.isPipeline && !this.isDumb;
  }

  /** Whether a written line can be overwritten. */
  canRedraw(side: OutputStream): boolean {
    return this.isTerminal(side) && !this.isPipeline && !this.isDumb;
  }

  /** Read each time, because a terminal can change its size. COLUMNS is the wish of a person. */
  columnsOf(side: OutputStream): number | undefined {
    if (!this.isTerminal(side)) return undefined;
    return /^[1-9]\d{0,4}$/.test(this.env['COLUMNS'] ?? '') ? Number(this.env['COLUMNS']) : this.rowWidthOf(side);
  }

  /** The columns after which the terminal itself breaks a line. */
  rowWidthOf(side: OutputStream): number {
    return this.streams[side].columns || 80;
  }

  private get isPipeline(): boolean {
    return Boolean(this.env['CI']) && this.env['CI'] !== 'false';
  }

  private get isDumb(): boolean {
    return this.env['TERM'] === 'dumb';
  }
}

/** Any value as text. JSON shows what an object contains. */
export const wordsOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
};

const CODES = { red: 31, green: 32, yellow: 33, blue: 34, grey: 90, bold: 1 } as const;
export type Colour = keyof typeof CODES;

export const painted = (text: string, colour: Colour): string => `\u001b[${CODES[colour]}m${text}\u001b[0m`;

/**
 * Removes what a terminal would interpret as commands from texts of others. Accepts any value: a server may send
 * something else than a text, and the command must still show the rest.
 */
export const harmless = (text: unknown): string =>
  wordsOf(text).replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, ' ');
