import type { Operation, Slipway, OperationStep } from '@slipway/sdk';
import { asSlipwayError, CliError, EXIT } from '../exit-codes.js';
import { awayLine } from '../failure-lines.js';
import type { Session } from '../session.js';
import { harmless, wordsOf } from '../terminal.js';
import { remedyOf } from '../remedies.js';
import {
  firstSight,
  isSameText,
  newsText,
  withEvent,
  withNews,
  withOperation,
  type OperationProgress,
} from './operation-progress.js';
import { limitOf, linesOf, shareNote } from './view.js';
import { measured, widthOf } from './text.js';
import { timeLeft } from './time-left.js';
import { needsPerson, personNeeded, waitingFor, waitLines } from './waiting.js';
import { stripVTControlCharacters } from 'node:util';
import type { Writable } from 'node:stream';

const CLEAR_BELOW = '\u001b[J';
const up = (rows: number): string => (rows > 0 ? `\u001b[${rows}A` : '');

/** Overwrites the lines that it wrote before. */
export class Redraw {
  private shown: readonly string[] = [];

  constructor(
    private readonly stream: Writable,
    private readonly columns: () => number,
  ) {}

  draw(lines: readonly string[]): void {
    // A terminal that became narrower has broken the old lines into more rows.
    const columns = Math.max(1, this.columns());
    const rows = this.shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(lengthOf(line) / columns)), 0);
    // Write it all at once, so that no partial state is visible.
    this.stream.write(`\r${up(rows)}${CLEAR_BELOW}${lines.map((line) => `${line}\n`).join('')}`);
    this.shown = lines;
  }
}

const lengthOf = (line: string): number => widthOf(stripVTControlCharacters(line));

/** The lines that describe a change, for logs and pipes: complete lines, and nothing twice. */
export function linesBetween(before: OperationProgress | undefined, after: OperationProgress, at: number): string[] {
  const known = new Map(before?.operation.steps.map((step) => [step.index, said(step, before)]));
  // A step does not repeat a message that an event has already printed.
  const now = { operation: after.operation, news: before?.news ?? [] };
  const steps = after.operation.steps.filter(
    (step) => step.status !== 'pending' && known.get(step.index) !== said(step, now),
  );
  const judged = after.judgedStep !== (before?.judgedStep ?? '') ? checkLines(after) : [];
  const seen = new Set(before?.news);
  const news = after.news.filter((one) => !seen.has(one)).map((one) => newsText(after, one));
  // Print it again only when a soak begins or ends: between those events it only counts down.
  const left = soaksOf(after) === soaksOf(before) ? undefined : timeLeft(after.operation, at);
  return [...steps.map((step) => said(step, now)), ...news, ...judged, ...(left ? [left] : [])];
}

/** The lines for a command that stays while a person is needed. */
export function waitLinesBetween(before: OperationProgress | undefined, { operation }: OperationProgress): string[] {
  if (!needsPerson(operation)) return [];
  const isNew = before === undefined || waitingFor(before.operation) !== waitingFor(operation);
  return isNew ? waitLines(operation) : [];
}

const soaksOf = (sight: OperationProgress | undefined): string | undefined =>
  sight?.operation.steps.flatMap(({ name, status }) => (name.startsWith('soak:') ? [status] : [])).join();

/**
 * A step and its message, unless the message is printed elsewhere: by an event before, or after it, because a failure
 * ends the command with the same message, and a wait for a person says what to type.
 */
function said(step: OperationStep, { news, operation }: Pick<OperationProgress, 'news' | 'operation'>): string {
  const { name, status } = step;
  const isElsewhere =
    ['failed', 'cancelled'].includes(status) ||
    (status === 'waiting' && needsPerson(operation)) ||
    news.some(({ message }) => isSameText(message, step.message));
  const note = [isElsewhere ? '' : remedyOf(wordsOf(step.message)), shareNote(step) && 'sessions change the share'];
  const text = note.filter(Boolean).join('; ');
  return `${name}: ${status}${text ? ` (${text})` : ''}`;
}

const checkLines = ({ checks, judgedStep }: OperationProgress): string[] =>
  checks.map((one) => {
    const values = `candidate ${measured(one.metric, one.candidate)}, baseline ${measured(one.metric, one.baseline)}`;
    return `${judgedStep} ${one.metric} ${one.stat}: ${values}, limit ${limitOf(one)}: ${one.verdict}`;
  });

const WATCH_LIMIT_MS = 60 * 60_000;
const TICK_MS = 1_000;
/** The time to wait for the last events of an operation whose record has ended. */
const LAST_EVENTS_MS = 2_000;
const TERMINAL_ROWS = 24;

interface WatchOptions {
  limitMs?: number;
  /** Whether to continue while the operation waits for a person. */
  staysForPerson?: boolean;
}

/**
 * Shows an operation until it has ended, or until only a person can continue it. Ctrl-C and the limit end only the
 * wait, not the work, and print how to come back.
 * @throws OperationFailed if the operation did not succeed; a CliError with exit code 5 after the limit, 2 after Ctrl-C,
 * 8 if a person is needed
 */
export async function watchOperation(
  session: Session,
  id: string,
  { limitMs = WATCH_LIMIT_MS, staysForPerson = false }: WatchOptions = {},
): Promise<Operation> {
  const comeBack = `It continues. To wait again: slipway operations wait ${id}`;
  const slipway = await session.client();
  const deadline = performance.now() + limitMs;
  const watch = new Watch(session, staysForPerson);
  try {
    let events: Promise<void> | undefined;
    const ended = await slipway.operations
      .wait(id, {
        signal: session.signal,
        limitMs: Math.max(1, deadline - performance.now()),
        // Waits as long as the caller allows.
        awayMs: limitMs,
        onAway: (error) => watch.tell(newsOf(error)),
        onRecord: (operation) => {
          watch.seeRecord(operation);
          events ??= watch.follow(slipway, id);
          if (!staysForPerson && operation.completed_at === null && needsPerson(operation))
            throw personNeeded(operation);
        },
      })
      .catch((error: unknown) => {
        const failed = asSlipwayError(error) as { operation?: Operation } | undefined;
        if (!failed?.operation) throw error;
        watch.seeRecord(failed.operation as Operation);
        return error as Error;
      });
    await watch.lastEvents(events);
    if (ended instanceof Error) throw ended;
    watch.seeRecord(ended);
    const { bake_operation_id: bake } = ended.result;
    if (typeof bake === 'string')
      session.note(harmless(`Its metrics are still watched. To follow that: slipway operations wait ${bake}`));
    return ended;
  } catch (error) {
    if (session.signal.aborted) throw new CliError(`No longer waiting for ${id}.`, EXIT.cancelled, comeBack);
    if (asSlipwayError(error)?.code === 'timed_out' && performance.now() >= deadline)
      throw new CliError(`${id} did not end within ${limitMs / 1000} s.`, EXIT.timedOut, comeBack);
    throw error;
  } finally {
    watch.end();
  }
}

const newsOf = (error: { code: string } | undefined): string =>
  error ? awayLine(error.code) : 'The api responds again.';

/** Shows the progress: redrawn in place on a terminal, and line by line elsewhere. */
class Watch {
  private sight: OperationProgress | undefined;
  private readonly redraw: Redraw | undefined;
  private readonly ended = new AbortController();
  private ticking: NodeJS.Timeout | undefined;
  private readonly show = (): void => this.draw();

  constructor(
    private readonly session: Session,
    private readonly showsWait: boolean,
  ) {
    const { terminal } = session;
    if (terminal.canRedraw('stderr'))
      this.redraw = new Redraw(terminal.streams.stderr, () => terminal.rowWidthOf('stderr'));
  }

  seeRecord(operation: Operation): void {
    if (this.sight) return this.change(withOperation(this.sight, operation));
    this.change(firstSight(operation));
    if (!this.redraw) return;
    this.ticking = setInterval(this.show, TICK_MS);
    this.session.terminal.streams.stderr.on('resize', this.show);
  }

  /** Shows a line that is not about the operation. */
  tell(text: string): void {
    if (this.sight) this.change(withNews(this.sight, text));
    else this.session.note(text);
  }

  /** Follows the events in addition to the record. The wait works without them, so their failure is not reported. */
  async follow(slipway: Slipway, id: string): Promise<void> {
    const { joinSignals } = await import('@slipway/sdk');
    const { signal, stop } = joinSignals(this.session.signal, this.ended.signal);
    try {
      for await (const event of slipway.operations.events.follow(id, { signal, awayMs: Infinity }))
        if (this.sight) this.change(withEvent(this.sight, event));
    } catch {
      // The watch continues to read the record.
    } finally {
      stop();
    }
  }

  async lastEvents(following: Promise<void> | undefined): Promise<void> {
    const late = setTimeout(() => this.ended.abort(), LAST_EVENTS_MS);
    await following;
    clearTimeout(late);
  }

  end(): void {
    clearInterval(this.ticking);
    this.session.terminal.streams.stderr.off('resize', this.show);
    this.ended.abort();
  }

  private change(next: OperationProgress): void {
    const before = this.sight;
    this.sight = next;
    if (this.redraw) return this.draw();
    const waits = this.showsWait ? waitLinesBetween(before, next) : [];
    for (const line of [...linesBetween(before, next, Date.now()), ...waits]) this.session.note(harmless(line));
  }

  private draw(): void {
    if (!this.sight) return;
    const { terminal } = this.session;
    const { rows = TERMINAL_ROWS } = terminal.streams.stderr as { rows?: number };
    const rowWidth = terminal.rowWidthOf('stderr');
    const columns = Math.min(terminal.columnsOf('stderr') ?? rowWidth, rowWidth);
    const hasColour = terminal.hasColour('stderr');
    this.redraw?.draw(linesOf(this.sight, { columns, rows, hasColour, now: Date.now(), showsWait: this.showsWait }));
  }
}
