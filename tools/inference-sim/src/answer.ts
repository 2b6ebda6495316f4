import { setTimeout as sleep } from 'node:timers/promises';

const WORDS =
  'is a simulated model and this is its answer which continues until its limit is reached so that a test knows what to expect'.split(
    ' ',
  );

/**
 * An answer of the simulator: token 0 names the model, the others are fixed words. One token is one chunk of a stream.
 */
export class Answer {
  private readonly escaped: string[];

  constructor(private readonly model: string) {
    this.escaped = [model, ...WORDS].map((word, index) => JSON.stringify(index === 0 ? word : ` ${word}`));
  }

  text(tokens: number): string {
    let text = this.model;
    for (let index = 1; index < tokens; index += 1) text += ` ${WORDS[(index - 1) % WORDS.length]!}`;
    return text;
  }

  /** Token `index` as a JSON string, quotes included. Escaped once per process, because streams are the hot path. */
  token(index: number): string {
    return this.escaped[index === 0 ? 0 : 1 + ((index - 1) % WORDS.length)]!;
  }
}

/** About four characters per token, as with common tokenizers. */
export function countTokens(characters: number): number {
  return Math.max(1, Math.ceil(characters / 4));
}

export interface Pace {
  ttftMs: number;
  itlMs: number;
}

/** The duration of a whole answer. */
export function durationMs(pace: Pace, tokens: number): number {
  return pace.ttftMs + (tokens - 1) * pace.itlMs;
}

/** Waits until that moment of `performance.now()`, and never less: a timer of Node may fire a millisecond early. */
export async function pauseUntil(moment: number): Promise<void> {
  for (let left = moment - performance.now(); left > 0; left = moment - performance.now()) await sleep(Math.ceil(left));
}

/**
 * Calls `emit(from, to)` for the tokens that are due, on a schedule counted from `startedAt` (of `performance.now()`),
 * so that late timers do not add up over a long answer. Ends early if `emit` returns false, because the reader has
 * left.
 */
export async function paced(
  startedAt: number,
  pace: Pace,
  tokens: number,
  emit: (from: number, to: number) => Promise<boolean> | boolean,
): Promise<void> {
  const begin = startedAt + pace.ttftMs;
  let sent = 0;
  while (sent < tokens) {
    await pauseUntil(begin + sent * pace.itlMs);
    const due = pace.itlMs === 0 ? tokens : Math.floor((performance.now() - begin) / pace.itlMs) + 1;
    const to = Math.min(tokens, Math.max(due, sent + 1));
    if (!(await emit(sent, to))) return;
    sent = to;
  }
}
