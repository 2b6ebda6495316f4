import { setTimeout as delay } from 'node:timers/promises';
import type { Operation, Slipway } from '@slipway/sdk';
import { confirmed } from './confirmation.js';
import { asSlipwayError, CliError } from './exit-codes.js';
import { awayLine } from './failure-lines.js';
import { toldKey } from './idempotency-key.js';
import { durationMs } from './nouns/flags.js';
import { DEFAULT_ROWS, type CallVerb, type CommandInput } from './nouns/verb.js';
import { OPERATION, REHEARSAL } from './nouns/views.js';
import { watchOperation } from './progress/watch.js';
import type { Session } from './session.js';
import { showWarnings } from './warnings.js';

const WATCH_MS = 2_000;

/** Runs a verb of the table: asks for confirmation if needed, calls, waits if requested, and shows the answer. */
export async function runCall(session: Session, verb: CallVerb, given: CommandInput): Promise<void> {
  const client = await session.client();
  const { flags } = given;
  if (verb.isList)
    return flags['watch']
      ? session.untilInterrupted(() => watch(session, verb, given, client))
      : list(session, verb, given, client);
  if (flags['dryRun']) {
    await verb.prepare?.(session, given, client);
    const rehearsal = await verb.rehearse!(client, given);
    showWarnings(session, rehearsal);
    return session.output.print(rehearsal, REHEARSAL);
  }
  // Checked first: a caller must not learn of an invalid time after the work has begun.
  const limitMs = flags['timeout'] === undefined ? undefined : durationMs(flags['timeout'] as string, '--timeout');
  await verb.prepare?.(session, given, client);
  await confirmed(session, verb, given, client);
  const key = flags['idempotencyKey'] as string | undefined;
  if (verb.tellsKey) given.options['idempotencyKey'] = toldKey(session, key);
  else if (key !== undefined) given.options['idempotencyKey'] = key;
  const answer = await (verb.call(client, given) as PromiseLike<unknown>);
  showWarnings(session, answer);
  const notice = verb.warningOf?.(answer as object);
  if (notice !== undefined) session.output.warn(notice);
  if (!verb.answersOperation) return session.output.print(answer, verb.view);
  const { operation } = answer as { operation: Operation };
  if (!flags['wait']) return session.output.print(operation, OPERATION);
  await session.output.print(await watchOperation(session, operation.id, { limitMs }), OPERATION);
}

async function list(session: Session, verb: CallVerb, given: CommandInput, client: Slipway): Promise<void> {
  const { rows, hasMore, warning } = await rowsOf(verb, given, client);
  if (warning !== undefined) session.output.warn(warning);
  await session.output.print(rows, verb.view);
  if (hasMore) session.note(`There are more rows. Use --limit ${rows.length * 10} to see them.`);
}

/** Prints each row once, and again whenever it changes. Waits if the api becomes unavailable. */
async function watch(session: Session, verb: CallVerb, given: CommandInput, client: Slipway): Promise<void> {
  const { interval } = given.flags as { interval?: string };
  const { LONGEST_TIMER_MS } = await import('@slipway/sdk');
  const pauseMs = interval === undefined ? WATCH_MS : durationMs(interval, '--interval');
  // The next poll is the retry.
  const look = { ...given, options: { ...given.options, maxRetries: 0 } };
  const print = session.output.rowsOf(verb.view);
  let told: Map<string, string> | undefined;
  let isAway = false;
  for (;;) {
    try {
      const { rows } = await rowsOf(verb, look, client);
      const now = new Map(rows.map((row, i) => [keyOf(row) ?? String(i), row]));
      const texts = new Map([...now].map(([key, row]) => [key, JSON.stringify(row)]));
      await print(...[...now].flatMap(([key, row]) => (told?.get(key) === texts.get(key) ? [] : [row])));
      told = texts;
      isAway = false;
    } catch (error) {
      // Before its first answer, the address may be wrong.
      const away = asSlipwayError(error);
      if (told === undefined || !away?.retryable) throw error;
      if (!isAway) session.output.warn(awayLine(away.code));
      isAway = true;
    }
    await delay(Math.min(pauseMs, LONGEST_TIMER_MS), undefined, { signal: session.signal });
  }
}

const keyOf = (row: unknown): string | undefined => {
  const { id, name } = row as { id?: unknown; name?: unknown };
  const key = id ?? name;
  return key === undefined || key === null ? undefined : String(key);
};

async function rowsOf(
  verb: CallVerb,
  given: CommandInput,
  client: Slipway,
): Promise<{ rows: unknown[]; hasMore: boolean; warning?: string }> {
  const most = given.flags['limit'] === undefined ? DEFAULT_ROWS : Number(given.flags['limit']);
  if (!Number.isInteger(most) || most < 1) throw new CliError('--limit must be a whole number of rows, at least 1.');
  const rows: unknown[] = [];
  const options = { limit: Math.min(most, DEFAULT_ROWS), ...given.options };
  const listed = verb.call(client, { ...given, options }) as AsyncIterable<unknown>;
  let warning: string | undefined;
  for await (const row of pagesWith(listed, (page) => (warning ??= verb.warningOfPage?.(page)))) {
    if (rows.length === most) return { rows, hasMore: true, ...(warning && { warning }) };
    rows.push(row);
  }
  return { rows, hasMore: false, ...(warning && { warning }) };
}

/** The rows of a list. Its pages are looked at too, if it has any. */
async function* pagesWith(listed: AsyncIterable<unknown>, look: (page: object) => void): AsyncGenerator<unknown> {
  const { pages } = listed as { pages?: () => AsyncIterable<{ data: unknown[] }> };
  if (pages === undefined) return yield* listed;
  for await (const page of pages.call(listed)) {
    look(page);
    yield* page.data;
  }
}
