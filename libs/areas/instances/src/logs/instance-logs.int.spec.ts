import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { LogLine } from '@slipway/target-driver';
import { TargetBed, until, type InstancesProcess } from '../../test/target-bed.js';
import { LogReader } from './log-reader.js';
import type { LogQuery } from './log-reading.entity.js';
import { deleteAbandonedReadings } from './log-reader.js';

let bed: TargetBed;
let worker: InstancesProcess;
/** Reads the output. It is another process than the one whose host has the output. */
let api: InstancesProcess;
let instance: { id: string; tenant_id: string; target: string };
let reading: AbortController;

beforeEach(async () => {
  bed = await TargetBed.create(4, { withTwin: true });
  worker = await bed.process('worker');
  api = await bed.process('api');
  reading = new AbortController();
  await worker.want('rev_1', {
    ...bed.twinSpec(),
    runtime: { target: 'twin', engine: 'sim', args: {}, env: { API_KEY: { secret_ref: 'key' } } },
  });
  await until('a row', async () => (await worker.rows('rev_1')).length === 1);
  instance = { id: (await worker.rows('rev_1'))[0]?.id ?? '', tenant_id: 'ten_a', target: 'twin' };
});
afterEach(async () => {
  reading.abort();
  await bed.dispose();
});

const ALL: LogQuery = { tail: 10_000, stream: 'both', previous: false, follow: false };
const open = (query: Partial<LogQuery> = {}) =>
  api.context.get(LogReader, { strict: false }).open(instance, { ...ALL, ...query }, reading.signal);
const write = (text: string, stream: LogLine['stream'] = 'stdout') => bed.cluster.write(instance.id, { stream, text });
const readings = async () => (await api.database.read('system', 'select from log_readings')).length;

async function textsOf(lines: AsyncIterable<LogLine>): Promise<string[]> {
  const texts: string[] = [];
  for await (const { text } of lines) texts.push(text);
  return texts;
}

it('log lines come from the worker that leads the target, in order and without secrets, and no rows remain', async () => {
  write('first');
  write('the key is sk-from-file', 'stderr');
  write(`hf_${'a1'.repeat(15)} and Authorization: Bearer abcdef and a NUL \0 and half a \ud800`);
  expect(await textsOf(await open())).toEqual([
    'first',
    'the key is [redacted]',
    '[redacted] and Authorization: Bearer [redacted] and a NUL \ufffd and half a \ufffd',
  ]);
  expect(await textsOf(await open({ stream: 'stderr' }))).toEqual(['the key is [redacted]']);
  expect(await readings()).toBe(0);
});

it('followed logs include later lines until the reader has gone', async () => {
  write('before');
  const lines = (await open({ follow: true }))[Symbol.asyncIterator]();
  expect((await lines.next()).value).toMatchObject({ stream: 'stdout', text: 'before' });
  write('after', 'stderr');
  expect((await lines.next()).value).toMatchObject({ stream: 'stderr', text: 'after' });
  reading.abort();
  expect(await lines.next()).toMatchObject({ done: true });
  await until('the reading to be over', async () => (await readings()) === 0);
});

it('logs fail with 503 at once if no worker leads the target', async () => {
  await worker.close();
  await expect(open()).rejects.toMatchObject({ code: 'logs_unavailable', status: 503 });
  expect(await readings()).toBe(0);
});

it('followed logs end with an error if their worker stops', async () => {
  const lines = (await open({ follow: true }))[Symbol.asyncIterator]();
  const next = lines.next();
  await worker.close();
  // As after ten seconds.
  await api.database.tx('system', (tx) =>
    tx.query(`update log_readings set served_at = now() - interval '11 seconds'`),
  );
  await expect(next).rejects.toMatchObject({ code: 'logs_unavailable' });
});

it('logs wait in a bounded queue for a slow reader, and are abandoned if it disappears', async () => {
  for (let n = 0; n < 3_000; n += 1) write('x'.repeat(4_000));
  const owner = await bed.owner();
  try {
    // A reader that requests the output and then does nothing, like an api process that was killed.
    await owner.query(
      `insert into log_readings (id, tenant_id, target, instance_id, options) values ('log_dead', 'ten_a', 'twin', $1, $2)`,
      [instance.id, JSON.stringify({ ...ALL, tail: 10_000 })],
    );
    await owner.query(`notify slipway_logs_asked, 'twin'`);
    const waiting = async () => (await owner.query('select from log_chunks')).rowCount;
    await until('a full queue', async () => (await waiting()) === 16);
    await owner.query(`update log_readings set reader_seen_at = now() - interval '61 seconds'`);
    // At its next sign of life, the worker finds no reader.
    await until('the worker to have given up', async () => {
      const { rows } = await owner.query(
        `update log_readings set reader_seen_at = now() - interval '61 seconds' returning served_at < clock_timestamp() - interval '2 seconds' as is_left`,
      );
      return rows[0].is_left;
    });
    expect(await waiting()).toBe(16);
    await api.database.tx('system', deleteAbandonedReadings);
    expect(await waiting()).toBe(0);
  } finally {
    await owner.end();
  }
});
