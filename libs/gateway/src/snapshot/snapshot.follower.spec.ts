import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { NamedSql, QueryClient } from '@slipway/dataplane';
import { SILENT_LOG } from '../log.js';
import { TokenBook } from '../tokens/token-book.js';
import { SnapshotFollower } from './snapshot.follower.js';
import { Snapshot } from './snapshot.js';

const REFRESH_MS = 1_000;
const READ_TOKENS = 'gateway_read_tokens';
const NOBODY = {
  onBackend: () => undefined,
  onBackendGone: () => undefined,
  onSlug: () => undefined,
  onSlugGone: () => undefined,
  onRoute: () => undefined,
  onRouteGone: () => undefined,
  onPassportRevoked: () => undefined,
};
const TOKEN = {
  id: 'tok_1',
  tenant_id: 'ten',
  tenant_name: 'acme',
  scopes: ['viewer'],
  is_operator: false,
  expires_at: null,
};

/** A database whose answers the test gives by hand. */
class ManualDatabase implements QueryClient {
  readonly asked: { name: string; values: unknown[]; answer: (rows: unknown[]) => void; fail: () => void }[] = [];

  private readonly failures: (() => void)[] = [];

  /** If a test ended early, a query may still wait for its answer. */
  end(): void {
    for (const fail of this.failures) fail();
  }

  query<R>({ name }: NamedSql, values: unknown[] = []): Promise<R[]> {
    return new Promise((resolve, reject) => {
      const fail = (): void => reject(new Error('Postgres is away'));
      this.failures.push(fail);
      this.asked.push({ name, values, answer: (rows) => resolve(rows as R[]), fail });
    });
  }

  /** Returns the only running query of tokens, or of anything else; with two, answers could overtake each other. */
  async next(isOfTokens = false): Promise<ManualDatabase['asked'][number]> {
    await jest.advanceTimersByTimeAsync(0);
    const running = this.asked.filter(({ name }) => (name === READ_TOKENS) === isOfTokens);
    expect(running).toHaveLength(1);
    return this.asked.splice(this.asked.indexOf(running[0]!), 1)[0]!;
  }

  async answerNext(name: string, rows: unknown[] = []): Promise<unknown[]> {
    const query = await this.next(name === READ_TOKENS);
    expect(query.name).toBe(name);
    query.answer(rows);
    return query.values;
  }
}

let db: ManualDatabase;
let snapshot: Snapshot;
let tokens: TokenBook;
let follower: SnapshotFollower;
let changes: number;

beforeEach(async () => {
  jest.useFakeTimers();
  db = new ManualDatabase();
  snapshot = new Snapshot(NOBODY);
  tokens = new TokenBook(db, () => undefined, Date);
  tokens.load([{ ...TOKEN, secret_hash: '00' }]);
  changes = 0;
  follower = new SnapshotFollower(db, snapshot, tokens, () => (changes += 1), REFRESH_MS, SILENT_LOG);
  const started = follower.start();
  expect(follower.isFollowing).toBe(false);
  await db.answerNext(READ_TOKENS, [{ ...TOKEN, secret_hash: '00' }]);
  await db.answerNext('dataplane_versions');
  expect(await started).toBe(true);
  expect([follower.isFollowing, follower.ageMs, changes]).toEqual([true, 0, 0]);
});
afterEach(async () => {
  const closed = follower.close();
  db.end();
  await closed;
  jest.useRealTimers();
});

const route = (id: string, generation: number): unknown => ({
  kind: 'route',
  entry: {
    deployment_id: id,
    tenant_id: 'ten',
    deployment_name: id,
    generation,
    version: generation,
    slots: [],
    targets: [],
  },
});
const idle = async (): Promise<void> => {
  await jest.advanceTimersByTimeAsync(0);
  expect(db.asked).toEqual([]);
};

it('reads what a notification names, one read after the other, and again what was named meanwhile', async () => {
  follower.onPublished('route:dep_1');
  const first = await db.next();
  expect(first.values).toEqual([['dep_1'], [], [], []]);
  follower.onPublished('route:dep_1');
  follower.onPublished('backend:rev_1');
  follower.onPublished('slug:acme/chat:x');
  follower.onPublished('passport:cp_1');
  // Still one query: a concurrent one could be answered first.
  expect(db.asked).toEqual([]);
  first.answer([route('dep_1', 1)]);
  expect(await db.answerNext('dataplane_entries', [route('dep_1', 2)])).toEqual([
    ['dep_1'],
    ['rev_1'],
    ['acme/chat:x'],
    ['cp_1'],
  ]);
  await idle();
  expect([snapshot.routes.get('dep_1')?.generation, changes]).toEqual([2, 2]);
});

it('reads tokens during any other read, one read after the other', async () => {
  const query = (follower.onPublished('route:dep_1'), await db.next());
  follower.onTokenChanged('tok_1');
  const first = await db.next(true);
  follower.onTokenChanged('tok_1');
  await idle();
  first.answer([{ ...TOKEN, secret_hash: '00' }]);
  expect(await db.answerNext(READ_TOKENS)).toEqual([['tok_1']]);
  await idle();
  expect([tokens.size, changes]).toEqual([0, 1]);
  query.answer([]);
  await idle();
});

it('compares everything after an unknown notification', async () => {
  follower.onPublished('route:dep_2');
  follower.onPublished('news');
  follower.onTokenChanged('tok_1');
  await db.answerNext('dataplane_entries');
  await db.answerNext('dataplane_versions');
  await db.answerNext(READ_TOKENS);
  await idle();
  // The token was gone, which is a change for the file.
  expect([tokens.size, changes]).toEqual([0, 1]);
});

it('distrusts a running read of a token as soon as the token changes, during any other read', async () => {
  follower.compareEverything();
  const distrusted = jest.spyOn(tokens, 'distrust');
  follower.onTokenChanged('tok_2');
  follower.compareEverything();
  expect(distrusted.mock.calls).toEqual([[['tok_2']], [null]]);
});

it('compares versions in each round and tokens in each fifth, and reads only what differs', async () => {
  for (let round = 1; round <= 5; round += 1) {
    await jest.advanceTimersByTimeAsync(REFRESH_MS);
    if (round === 5) await db.answerNext(READ_TOKENS, [{ ...TOKEN, secret_hash: '00' }]);
    await db.answerNext('dataplane_versions', [{ kind: 'route', id: 'dep_1', version: 7 }]);
    if (round === 1)
      expect(await db.answerNext('dataplane_entries', [route('dep_1', 7)])).toEqual([['dep_1'], [], [], []]);
    await idle();
  }
  expect([snapshot.routes.get('dep_1')?.generation, changes]).toEqual([7, 1]);
});

it('compares everything, including tokens, when it listens again', async () => {
  follower.compareEverything();
  expect(await db.answerNext(READ_TOKENS, [{ ...TOKEN, secret_hash: '00' }])).toEqual([['tok_1']]);
  await db.answerNext('dataplane_versions');
  await idle();
});

it('loses no key that was named while Postgres was down', async () => {
  follower.onPublished('route:dep_1');
  (await db.next()).fail();
  await idle();
  expect(follower.isFollowing).toBe(false);
  await jest.advanceTimersByTimeAsync(REFRESH_MS - 1);
  expect(follower.isFollowing).toBe(false);
  // Any next notification also triggers the tokens and the comparison.
  follower.onPublished('slug:a/b');
  await db.answerNext(READ_TOKENS, [{ ...TOKEN, secret_hash: '11' }]);
  await db.answerNext('dataplane_entries');
  await db.answerNext('dataplane_versions', [{ kind: 'route', id: 'dep_1', version: 1 }]);
  await db.answerNext('dataplane_entries', [route('dep_1', 1)]);
  await idle();
  expect([follower.isFollowing, snapshot.routes.size, changes]).toEqual([true, 1, 2]);
});

it('reads nothing more once it is closed, and waits for the running read', async () => {
  follower.onPublished('route:dep_1');
  const query = await db.next();
  follower.onPublished('route:dep_2');
  let isClosed = false;
  const closed = follower.close().then(() => (isClosed = true));
  await idle();
  expect(isClosed).toBe(false);
  query.answer([]);
  await idle();
  await closed;
  await jest.advanceTimersByTimeAsync(10 * REFRESH_MS);
  expect(db.asked).toEqual([]);
});

it('sends digests of its rows with each comparison, so that Postgres need not list equal ones', async () => {
  follower.onPublished('route:dep_1');
  await db.answerNext('dataplane_entries', [route('dep_1', 7)]);
  await idle();
  await jest.advanceTimersByTimeAsync(REFRESH_MS);
  const same = (id: string) => ({ kind: 'same', id, version: 0 });
  const digests = await db.answerNext('dataplane_versions', [same('route'), same('backend'), same('slug')]);
  expect(digests).toEqual(['1:7:7', '0:0:0', '0:0:0']);
  await idle();
  expect([snapshot.routes.size, changes]).toEqual([1, 1]);
});
