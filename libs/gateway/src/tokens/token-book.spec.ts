import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { NamedSql, QueryClient } from '@slipway/dataplane';
import type { GatewayError } from '../gateway.errors.js';
import { DatabaseClock } from '../postgres/database-clock.js';
import { TokenBook, type StoredToken } from './token-book.js';

const SECRET = 's'.repeat(32);
const ADDRESS = '192.0.2.1';
const bearer = (id: string, secret = SECRET): string => `Bearer slw_${id}_${secret}`;
const row = (id: string, rest: Partial<StoredToken> = {}): StoredToken => ({
  id: `tok_${id}`,
  tenant_id: 'ten',
  tenant_name: 'acme',
  secret_hash: createHash('sha256').update(SECRET).digest('hex'),
  scopes: ['viewer'],
  owner: 'person:ada',
  counts_for_owner: false,
  is_operator: false,
  expires_at: null,
  ...rest,
});

/**
 * `api_tokens`, as far as the book reads it. After `delay`, it answers later with the rows of the time of the query.
 */
class Tokens implements QueryClient {
  rows: StoredToken[] = [];
  isAway = false;
  readonly asked: { name: string; ids: string[] }[] = [];
  private gate: Promise<void> = Promise.resolve();

  async query<R>({ name }: NamedSql, [ids]: unknown[] = []): Promise<R[]> {
    this.asked.push({ name, ids: ids as string[] });
    const found = this.rows.filter(({ id }) => (ids as string[]).includes(id));
    await this.gate;
    if (this.isAway) throw new Error('Postgres is away');
    return found as R[];
  }

  /** Lets queries from now on through. */
  letThrough(): void {
    this.gate = Promise.resolve();
  }

  delay(): () => void {
    let release: () => void = () => undefined;
    this.gate = new Promise((resolve) => (release = resolve));
    return () => {
      this.gate = Promise.resolve();
      release();
    };
  }
}

let now: number;
let db: Tokens;
let learned: number;
let book: TokenBook;

beforeEach(() => {
  now = 1_000_000;
  jest.spyOn(Date, 'now').mockImplementation(() => now);
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  db = new Tokens();
  learned = 0;
  book = new TokenBook(db, () => (learned += 1), Date);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Returns status and code of the refusal, or the token's id. */
async function outcome(authorization: string | undefined, address = ADDRESS): Promise<string> {
  try {
    return (await book.check(authorization, address)).id;
  } catch (error) {
    const { status, code } = error as GatewayError;
    return `${status} ${code}`;
  }
}

it('queries Postgres once per token, even for concurrent requests, and reports that it has learned it', async () => {
  db.rows = [row('a')];
  expect(await Promise.all([outcome(bearer('a')), outcome(bearer('a')), outcome(bearer('a', 'x'.repeat(32)))])).toEqual(
    ['tok_a', 'tok_a', '401 invalid_api_key'],
  );
  expect([db.asked.length, learned]).toEqual([1, 1]);
  // Known from now on: it needs no promise, no query and no Postgres.
  db.isAway = true;
  expect(book.check(bearer('a'), ADDRESS)).toMatchObject({ id: 'tok_a', tenantId: 'ten', scopes: ['viewer'] });
  expect(() => book.check(bearer('a', 'y'.repeat(32)), ADDRESS)).toThrow('not valid');
  expect(db.asked).toHaveLength(1);
});

it('refuses what cannot be a token without a query', async () => {
  for (const text of [undefined, '', 'Bearer ', `Basic ${SECRET}`, 'Bearer sk-1', `Bearer slw_a_${'s'.repeat(31)}`])
    expect(await outcome(text)).toBe('401 invalid_api_key');
  // As `curl -u` and clients of other services send it: the token may be good.
  for (const text of [`Basic ${SECRET}`, `token ${SECRET}`, SECRET])
    expect(() => book.check(text, ADDRESS)).toThrow("send it as 'Authorization: Bearer TOKEN'");
  expect(db.asked).toEqual([]);
});

it('remembers for a second that a token does not exist', async () => {
  expect(await outcome(bearer('a'))).toBe('401 invalid_api_key');
  now += 999;
  expect(await outcome(bearer('a'))).toBe('401 invalid_api_key');
  expect(db.asked).toHaveLength(1);
  db.rows = [row('a')];
  now += 1;
  expect(await outcome(bearer('a'))).toBe('tok_a');
});

it('queries an unknown token again at once when a notification says that it changed', async () => {
  expect(await outcome(bearer('a'))).toBe('401 invalid_api_key');
  db.rows = [row('a')];
  await book.refresh(['tok_a']);
  expect(await outcome(bearer('a'))).toBe('tok_a');
});

it('answers 503 if it cannot query Postgres, and remembers nothing about the token', async () => {
  db.rows = [row('a')];
  db.isAway = true;
  expect(await outcome(bearer('a'))).toBe('503 unavailable');
  db.isAway = false;
  expect(await outcome(bearer('a'))).toBe('tok_a');
});

it('reads unknown tokens together, and known tokens do not wait for them', async () => {
  book.load([row('known')]);
  const release = db.delay();
  const waiting = Array.from({ length: 64 }, (_, n) => outcome(bearer(`n${n}`)));
  expect(await outcome(bearer('known'))).toBe('tok_known');
  // A request for a token that is being looked up adds no lookup.
  const joined = outcome(bearer('n0'));
  expect(db.asked.map(({ ids }) => ids.length)).toEqual([64]);
  release();
  expect(new Set(await Promise.all([...waiting, joined]))).toEqual(new Set(['401 invalid_api_key']));
  expect(db.asked).toHaveLength(1);
});

it('refuses a token from the millisecond of its expiry on, and never gives that reason for a wrong one', async () => {
  book.load([row('a', { expires_at: now })]);
  expect(await outcome(bearer('a'))).toBe('401 token_expired');
  expect(await outcome(bearer('a', 'x'.repeat(32)))).toBe('401 invalid_api_key');
  now -= 1;
  expect(await outcome(bearer('a'))).toBe('tok_a');
});

it('forgets revoked tokens, takes over changes, and reports whether anything changed', async () => {
  book.load([row('a'), row('b')]);
  db.rows = [row('a'), row('b')];
  expect(await book.refresh(null)).toBe(false);
  expect(db.asked[0]?.ids).toEqual(['tok_a', 'tok_b']);
  for (const change of [
    { expires_at: now + 1 },
    { secret_hash: '00' },
    { scopes: ['admin'] },
    { is_operator: true },
  ] satisfies Partial<StoredToken>[]) {
    db.rows = [row('a', change), row('b')];
    expect([change, await book.refresh(['tok_a'])]).toEqual([change, true]);
    expect(book.stored()).toEqual([row('a', change), row('b')]);
  }
  db.rows = [row('b')];
  expect(await book.refresh(['tok_a', 'tok_never_seen'])).toBe(true);
  expect(await outcome(bearer('a'))).toBe('401 invalid_api_key');
  expect(await outcome(bearer('b'))).toBe('tok_b');
  // None of these tokens is known, so it needs no query.
  const before = db.asked.length;
  expect([await book.refresh(['tok_never_seen']), db.asked.length]).toEqual([false, before]);
});

it.each([
  ['is told of one', (): void => book.distrust(['tok_a'])],
  ['listens again', (): void => book.distrust(null)],
  ['compares that token', (): void => void book.refresh(['tok_a'])],
  ['compares everything', (): void => void book.refresh(null)],
])('rejects a token that was read before its revocation, when it %s', async (_when, told) => {
  db.rows = [row('a')];
  const release = db.delay();
  const early = outcome(bearer('a'));
  db.rows = [];
  told();
  // Later requests read for themselves, and do not wait for the old answer either.
  db.letThrough();
  expect(await outcome(bearer('a'))).toBe('401 invalid_api_key');
  release();
  expect([await early, await outcome(bearer('a')), book.size]).toEqual([
    '401 invalid_api_key',
    '401 invalid_api_key',
    0,
  ]);
});

it('notices the revocation of a token while the lookup of another one hangs', async () => {
  book.load([row('b')]);
  db.rows = [row('a'), row('b')];
  const release = db.delay();
  const hanging = outcome(bearer('a'));
  db.letThrough();
  db.rows = [row('a')];
  expect(await book.refresh(['tok_a', 'tok_b'])).toBe(true);
  expect(await outcome(bearer('b'))).toBe('401 invalid_api_key');
  release();
  expect(await hanging).toBe('tok_a');
});

it('accepts a token whose creation is notified while its lookup finds none', async () => {
  const release = db.delay();
  const early = outcome(bearer('a'));
  db.rows = [row('a')];
  book.distrust(['tok_a']);
  release();
  expect(await early).toBe('tok_a');
});

describe('a flood of tokens that do not exist', () => {
  async function whileTimePasses<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const end = (): void => void (isDone = true);
    work.then(end, end);
    while (!isDone) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      now += 50;
    }
    return work;
  }
  const flood = (size: number, address = ADDRESS, prefix = 'f'): Promise<string[]> =>
    whileTimePasses(Promise.all(Array.from({ length: size }, (_, n) => outcome(bearer(`${prefix}${n}`), address))));

  it('costs Postgres a statement for hundreds of tokens, and gets 429 after a while', async () => {
    const outcomes = await flood(2_000);
    expect([outcomes[0], outcomes.at(-1)]).toEqual(['401 invalid_api_key', '429 rate_limited']);
    expect(db.asked.length).toBeLessThanOrEqual(10);
    expect(db.asked.flatMap(({ ids }) => ids)).toHaveLength(2_000);
  });

  it('delays no correct token from the same address or another one by more than its turn', async () => {
    db.rows = [row('new'), row('other'), row('late')];
    const flooding = flood(2_000);
    const results = [outcome(bearer('new')), outcome(bearer('other'), '192.0.2.2')];
    expect(await Promise.all(results)).toEqual(['tok_new', 'tok_other']);
    await flooding;
    expect(await whileTimePasses(outcome(bearer('late')))).toBe('tok_late');
  });

  it('does not stop the right secret of a token whose secret is guessed', async () => {
    db.rows = [row('new')];
    const wrong = Array.from({ length: 500 }, (_, n) =>
      outcome(bearer('new', String(n).padStart(32, 'x')), `10.0.${n >> 8}.${n & 255}`),
    );
    const right = outcome(bearer('new'));
    const outcomes = await whileTimePasses(Promise.all(wrong));
    expect(await right).toBe('tok_new');
    // The guesses come from different addresses and count for the token.
    expect(outcomes.filter((one) => one === '401 invalid_api_key')).toHaveLength(60);
    expect(db.asked).toHaveLength(1);
    expect(await outcome(bearer('new'))).toBe('tok_new');
  });

  it('says when to come back', async () => {
    // The last of a group, so that no time passes after the others, in which the address would get some failures back.
    const flooding = flood(1_990);
    const refused = expect(Promise.resolve(book.check(bearer('x'), ADDRESS))).rejects.toMatchObject({
      status: 429,
      headers: { 'retry-after': '1' },
    });
    await flooding;
    await refused;
  });

  it('does not stop known tokens', async () => {
    book.load([row('known')]);
    await flood(400);
    expect(await outcome(bearer('known'))).toBe('tok_known');
  });

  it('does not include many clients at one address, a client with a wrong token, or an outage', async () => {
    db.rows = Array.from({ length: 500 }, (_, n) => row(`c${n}`));
    expect(new Set((await flood(500, ADDRESS, 'c')).map((one) => one.slice(0, 4)))).toEqual(new Set(['tok_']));
    for (let n = 0; n < 500; n += 1) expect(await outcome(bearer('wrong'))).toBe('401 invalid_api_key');
    db.isAway = true;
    expect(new Set(await flood(500, ADDRESS, 'o'))).toEqual(new Set(['503 unavailable']));
  });
});

it('keeps on disk what it needs to decide without Postgres', async () => {
  const rows = [row('a', { is_operator: true, scopes: ['admin'] }), row('b', { expires_at: now })];
  book.load(rows);
  expect(book.stored()).toEqual(rows);
  const next = new TokenBook(db, () => undefined, Date);
  next.load(JSON.parse(JSON.stringify(book.stored())) as StoredToken[]);
  expect(next.check(bearer('a'), ADDRESS)).toMatchObject({ id: 'tok_a', isOperator: true, scopes: ['admin'] });
  expect(() => next.check(bearer('b'), ADDRESS)).toThrow('expired');
});

it('notes accepted tokens, once', async () => {
  book.load([row('a'), row('b'), row('c', { expires_at: now })]);
  await outcome(bearer('a'));
  await outcome(bearer('a'));
  await outcome(bearer('b', 'x'.repeat(32)));
  await outcome(bearer('c'));
  await book.noteUses();
  await book.noteUses();
  expect(db.asked).toEqual([{ name: 'gateway_note_uses', ids: ['tok_a'] }]);
});

it('accepts the scheme in any case, with any number of spaces around the token, and nothing else', async () => {
  db.rows = [row('a')];
  const token = bearer('a').slice('Bearer '.length);
  for (const text of [`Bearer ${token}`, `bearer ${token}`, `BEARER   ${token}  `])
    expect(await book.check(text, ADDRESS)).toMatchObject({ id: 'tok_a' });
  for (const text of [token, `Bearer${token}`, `Basic ${token}`, `Bearer ${token} x`, `Bearer ${token}\n`])
    expect(() => book.check(text, ADDRESS)).toThrow('send it as');
});

it('expires tokens by the clock of Postgres, whatever the wall clock of the gateway shows', async () => {
  const clock = new DatabaseClock();
  book = new TokenBook(db, () => undefined, clock);
  const hourMs = 3_600_000;
  // Postgres is an hour ahead: a token that has ten minutes left by the wall clock has expired.
  book.load([row('a', { expires_at: now + 600_000 }), row('b', { expires_at: now + hourMs + 1 })]);
  expect(await outcome(bearer('a'))).toBe('tok_a');
  clock.measure(now + hourMs, now);
  expect(await outcome(bearer('a'))).toBe('401 token_expired');
  expect(await outcome(bearer('b'))).toBe('tok_b');
  now += 1;
  jest.spyOn(Date, 'now').mockReturnValue(0);
  expect(await outcome(bearer('b'))).toBe('401 token_expired');
});
