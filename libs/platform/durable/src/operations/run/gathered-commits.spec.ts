import { expect, it, jest } from '@jest/globals';
import type { PendingCommit } from './commit-record.js';
import { GatheredCommits, LeaseLost } from './gathered-commits.js';

type WrittenCommit = { id: string; cancelRequested: boolean; at: Date };

const commitOf = (id: string, leaseVersion = '1') =>
  ({ operation: { id, leaseVersion }, events: [] }) as unknown as PendingCommit;
const telling = (id: string, stream: string) =>
  ({ operation: { id, stream }, events: [{}] }) as unknown as PendingCommit;
const writtenOf = ({ operation }: PendingCommit): WrittenCommit => ({
  id: operation.id,
  cancelRequested: false,
  at: new Date(),
});

/** Commits whose transactions end as a test decides; `batches` lists the ids that each transaction was to write. */
function gathering(
  end: (batch: readonly PendingCommit[]) => Promise<readonly PendingCommit[]>,
  atCommit: (count: number) => void = () => undefined,
) {
  const batches: string[][] = [];
  const commits = new GatheredCommits<WrittenCommit>(async (batch, _settings, committing) => {
    batches.push(batch.map(({ operation }) => operation.id));
    const written = await end(batch);
    committing();
    atCommit(written.length);
    return written.map(writtenOf);
  });
  return { commits, batches };
}

it('writes up to thirty-two commits at a time, in the order of their ids', async () => {
  const { commits, batches } = gathering(async (batch) => batch);
  const ids = Array.from({ length: 40 }, (_, n) => `op_${String(39 - n).padStart(2, '0')}`);
  await Promise.all(ids.map((id) => commits.add(commitOf(id))));
  expect(batches.map((batch) => batch.length)).toEqual([32, 8]);
  for (const batch of batches) expect(batch).toEqual([...batch].sort());
});

it('adds commits that immediately follow an answer to the next batch', async () => {
  const { commits, batches } = gathering(async (batch) => batch);
  const twice = async (id: string) => {
    await commits.add(commitOf(id));
    await commits.add(commitOf(id));
  };
  await Promise.all(['op_a', 'op_b', 'op_c'].map(twice));
  expect(batches).toEqual([
    ['op_a', 'op_b', 'op_c'],
    ['op_a', 'op_b', 'op_c'],
  ]);
});

it('keeps two commits of one operation apart, so that neither takes the answer of the other for its own', async () => {
  const { commits, batches } = gathering(async (batch) =>
    batch.filter(({ operation }) => operation.leaseVersion === '1'),
  );
  const first = commits.add(commitOf('op_a'));
  const [stale, current] = [commits.add(commitOf('op_b', '0')), commits.add(commitOf('op_b'))];
  await first;
  await expect(stale).rejects.toBeInstanceOf(LeaseLost);
  await expect(current).resolves.toMatchObject({ id: 'op_b' });
  expect(batches).toEqual([['op_a', 'op_b'], ['op_b']]);
});

it('appends to one stream once in a transaction', async () => {
  const { commits, batches } = gathering(async (batch) => batch);
  const given = [telling('op_a', 'one'), telling('op_b', 'one'), telling('op_c', 'other'), commitOf('op_d')];
  await Promise.all(given.map((one) => commits.add(one)));
  expect(batches).toEqual([['op_a', 'op_c', 'op_d'], ['op_b']]);
});

it('writes nothing a second time if it is unknown whether Postgres has committed', async () => {
  const cut = new Error('Connection terminated unexpectedly');
  const { commits, batches } = gathering(
    async (batch) => batch,
    (count) => {
      if (count > 1) throw cut;
    },
  );
  await commits.add(commitOf('op_a'));
  const others = await Promise.allSettled([commits.add(commitOf('op_b')), commits.add(commitOf('op_c'))]);
  expect(others).toEqual([
    { status: 'rejected', reason: cut },
    { status: 'rejected', reason: cut },
  ]);
  expect(batches).toEqual([['op_a'], ['op_b', 'op_c']]);
});

it('writes each commit alone if several could not be written together, and fails those that cannot be written', async () => {
  const unspeakable = new TypeError('Converting circular structure to JSON');
  const { commits, batches } = gathering(async (batch) => {
    if (batch.some(({ operation }) => operation.id === 'op_b')) throw unspeakable;
    return batch;
  });
  const ends = await Promise.allSettled(['op_a', 'op_b', 'op_c'].map((id) => commits.add(commitOf(id))));
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(batches).toEqual([['op_a', 'op_b', 'op_c'], ['op_a'], ['op_b'], ['op_c']]);
});

it('does not wait long for commits that hang', async () => {
  let release: () => void = () => undefined;
  const hanging = new Promise<void>((resolve) => (release = resolve));
  const { commits, batches } = gathering(async (batch) => {
    if (batch[0]!.operation.id.startsWith('op_held')) await hanging;
    return batch;
  });
  const first = commits.add(commitOf('op_held_1'));
  while (batches.length < 1) await new Promise((resolve) => setImmediate(resolve));
  const second = commits.add(commitOf('op_held_2'));
  while (batches.length < 2) await new Promise((resolve) => setImmediate(resolve));
  await commits.add(commitOf('op_a'));
  await commits.add(commitOf('op_b'));
  release();
  await expect(first).resolves.toMatchObject({ id: 'op_held_1' });
  await expect(second).resolves.toMatchObject({ id: 'op_held_2' });
});

it('runs one transaction at a time, and later commits share the next one', async () => {
  // With fake timers no commit is late, however slow this machine is.
  jest.useFakeTimers({ now: 0, doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  const ends: (() => void)[] = [];
  const { commits, batches } = gathering(async (batch) => {
    await new Promise<void>((resolve) => ends.push(resolve));
    return batch;
  });
  const first = commits.add(commitOf('op_a'));
  while (batches.length < 1) await new Promise((resolve) => setImmediate(resolve));
  const others = [commits.add(commitOf('op_b'))];
  for (let iteration = 0; iteration < 3; iteration += 1) await new Promise((resolve) => setImmediate(resolve));
  others.push(commits.add(commitOf('op_c')));
  ends[0]!();
  await first;
  while (batches.length < 2) await new Promise((resolve) => setImmediate(resolve));
  expect(batches).toEqual([['op_a'], ['op_b', 'op_c']]);
  ends[1]!();
  await Promise.all(others);
  jest.useRealTimers();
});
