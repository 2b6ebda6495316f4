import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { until } from '@slipway/platform-database/testing';
import { operationsOf } from '@slipway/platform-http';
import { RequestGuard } from '@slipway/platform-http/auth';
import { Bed, type ContractRequest } from '@slipway/platform-testing/contract';
import pg from 'pg';
import { bootApi, type Answer, type TestApi } from '../harness/boot-api.js';
import { changedTables, tableMarks } from '../harness/every-row.js';
import { pathOf } from './client.js';
import { ROWS } from './rows.js';

const SMALLER = { operator: 'viewer', admin: 'operator' } as const;
const GARBAGE = ['garbage', `slw_none_${'x'.repeat(40)}`, 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.'];

/** The ends of an access, and the answers that they cause. */
const ENDS = [
  ['revoked', 'revoked_at = now()', 401, 'unauthenticated'],
  ['expired', `expires_at = now() - interval '1 second'`, 401, 'token_expired'],
  ['demoted', `scopes = '{viewer}'`, 403, 'scope_insufficient'],
] as const;

/** Mutations that give access or decide for a person: a revocation under way holds them up. */
const LOCKING = [
  'approveAutopilotPlan',
  'createTenant',
  'createToken',
  'createWebhook',
  'deleteConsoleAccess',
  'deleteWebhook',
  'promoteOperation',
  'rejectAutopilotPlan',
  'resumeOperation',
  'revokeToken',
  'rotateToken',
  'rotateWebhookSecret',
  'setConsoleAccess',
  'updateTenant',
  'updateWebhook',
];

/** Every mutation in one test, on busy machines. */
const LONG_MS = 240_000;

interface Case {
  operationId: string;
  method: string;
  path: string;
  scope: 'viewer' | 'operator' | 'admin';
}

let api: TestApi;
let bed: Bed;
let cases: Case[];
let stranger: string;
let owner: pg.Client;
const tokens = new Map<string, string>();

beforeAll(async () => {
  api = await bootApi();
  bed = new Bed(api);
  owner = new pg.Client({ connectionString: api.database.ownerUrl });
  await owner.connect();
  const { body } = await api.send('GET', '/openapi.json', { token: null });
  cases = operationsOf(body).map(({ path, method, operation }) => ({
    operationId: operation.operationId,
    method: method.toUpperCase(),
    path,
    scope: operation['x-required-scope'] as Case['scope'],
  }));
  for (const scope of ['viewer', 'operator'] as const) tokens.set(scope, await api.createToken(scope));
  stranger = (await api.createTenant('stranger')).token;
});

afterAll(async () => {
  await owner?.end();
  await api?.close();
});

/** Calls every operation and collects the failures, so that one failure does not hide the others. */
async function failuresOf(chosen: Case[], judge: (one: Case) => Promise<string | undefined>): Promise<string[]> {
  const failures: string[] = [];
  for (const one of chosen) {
    const failure = await judge(one);
    if (failure !== undefined) failures.push(`${one.operationId} (${one.method} ${one.path}): ${failure}`);
  }
  return failures;
}

function ask(one: Case, token: string | null, asked: ContractRequest = {}): Promise<Answer> {
  const hasBody = one.method !== 'GET' && one.method !== 'DELETE';
  return api.send(one.method, pathOf(one, asked), { token, body: hasBody ? (asked.body ?? {}) : undefined });
}

function unless(answer: Answer, status: number, code?: string): string | undefined {
  const isExpected = answer.status === status && (code === undefined || answer.body?.error?.code === code);
  return isExpected ? undefined : `expected ${status} ${code ?? ''}, got ${answer.status} ${answer.text.slice(0, 200)}`;
}

/** Sends a request whose token changes after its first check, and undoes the change. */
async function askWhileEnding(one: Case, asked: ContractRequest, id: string, set: string): Promise<Answer> {
  const found = await owner.query('select expires_at::text as ends, scopes from api_tokens where id = $1', [id]);
  const { ends, scopes } = found.rows[0] as { ends: string; scopes: string[] };
  const guard = api.app.get(RequestGuard, { strict: false });
  const check = guard.check.bind(guard);
  const spies = [
    jest.spyOn(guard, 'check').mockImplementation(async (request, reply) => {
      await check(request, reply);
      await owner.query(`update api_tokens set ${set} where id = $1`, [id]);
    }),
    // Otherwise the body under way might end first, and the transaction would not be tested.
    jest.spyOn(guard, 'watch').mockReturnValue(() => undefined),
  ];
  try {
    return await ask(one, asked.token ?? api.token, asked);
  } finally {
    for (const spy of spies) spy.mockRestore();
    const restore = 'update api_tokens set revoked_at = null, expires_at = $2, scopes = $3 where id = $1';
    await owner.query(restore, [id, ends, scopes]);
  }
}

/** Sends a request while its token is being revoked, which is rolled back. */
async function askWhileRevoking(
  one: Case,
  asked: ContractRequest,
  id: string,
): Promise<Answer & { hasWaited: boolean }> {
  await owner.query('begin');
  await owner.query('update api_tokens set revoked_at = now() where id = $1', [id]);
  let [isAnswered, hasWaited] = [false, false];
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  try {
    const asking = ask(one, asked.token ?? api.token, asked).finally(() => (isAnswered = true));
    await until('the request is answered or waits', async () => {
      hasWaited = (await owner.query(waiting)).rows.length > 0;
      return hasWaited || isAnswered;
    });
    await owner.query('rollback');
    return { ...(await asking), hasWaited };
  } finally {
    await owner.query('rollback');
  }
}

describe('every operation of the OpenAPI document', () => {
  it('declares its scope and bearer security, and is under /api/v1', async () => {
    const { body } = await api.send('GET', '/openapi.json', { token: null });
    expect(body.security).toBeUndefined();
    const broken = operationsOf(body).filter(({ path, operation }) => {
      const isSound =
        ['viewer', 'operator', 'admin'].includes(String(operation['x-required-scope'])) && path.startsWith('/api/v1/');
      return (
        !isSound ||
        JSON.stringify(operation['security']) !== '[{"bearer":[]}]' ||
        (operation['tags'] as string[]).length !== 1
      );
    });
    expect(broken).toEqual([]);
    expect(cases.length).toBeGreaterThan(0);
  });

  it('answers 401 without a token', async () => {
    expect(await failuresOf(cases, async (one) => unless(await ask(one, null), 401, 'unauthenticated'))).toEqual([]);
  });

  it('answers 401 to an invalid token', async () => {
    const judge = async (one: Case): Promise<string | undefined> => {
      for (const garbage of GARBAGE) {
        const failure = unless(await ask(one, garbage), 401, 'unauthenticated');
        if (failure) return failure;
      }
      return undefined;
    };
    expect(await failuresOf(cases, judge)).toEqual([]);
  });

  it('answers 403 to an insufficient scope', async () => {
    const guarded = cases.filter((one) => one.scope !== 'viewer');
    const judge = async (one: Case): Promise<string | undefined> =>
      unless(await ask(one, tokens.get(SMALLER[one.scope as 'operator' | 'admin'])!), 403, 'scope_insufficient');
    expect(await failuresOf(guarded, judge)).toEqual([]);
  });

  it('has a row of its area, which explains why it reaches no other tenant if its path does not show it', () => {
    expect(Object.keys(ROWS).sort()).toEqual(cases.map((one) => one.operationId).sort());
    const wrong = cases.filter((one) => (ROWS[one.operationId]!.tenancy === undefined) !== one.path.includes('{'));
    expect(wrong.map((one) => one.operationId)).toEqual([]);
  });

  it("answers 404 to a stranger who names another tenant's resource, as if it did not exist", async () => {
    const judge = async (one: Case): Promise<string | undefined> => {
      const asked = await ROWS[one.operationId]!.valid(bed);
      const foreign = await ask(one, stranger, asked);
      const params = Object.fromEntries(Object.keys(asked.params!).map((name) => [name, 'no-such-thing']));
      const missing = await ask(one, stranger, { ...asked, params });
      if (foreign.status !== 404) return unless(foreign, 404);
      if (missing.body?.error?.code !== foreign.body?.error?.code)
        return `a foreign resource answers ${foreign.text}, a missing one ${missing.text}`;
      return undefined;
    };
    const named = cases.filter((one) => one.path.includes('{'));
    expect(named.length).toBeGreaterThan(0);
    expect(await failuresOf(named, judge)).toEqual([]);
  });
});

describe('every mutation of the OpenAPI document', () => {
  it(
    'reads the access of its caller again before it commits, and some keep it until then',
    async () => {
      const mutations = cases.filter(({ method }) => method !== 'GET');
      const locking: string[] = [];
      const judge = async (one: Case): Promise<string | undefined> => {
        const asked = await ROWS[one.operationId]!.valid(bed);
        const token = asked.token ?? api.token;
        const { id } = (await api.send('GET', '/api/v1/whoami', { token })).body.actor;
        const before = await tableMarks(api);
        // Each end is tried with a third of the mutations: the statement that reads it is the same.
        const [what, set, status, code] = ENDS[mutations.indexOf(one) % ENDS.length]!;
        const failure = unless(await askWhileEnding(one, asked, id, set), status, code);
        if (failure) return `for a caller that was ${what}: ${failure}`;
        const changed = changedTables(before, await tableMarks(api));
        if (changed.length > 0) return `changed ${changed.join(', ')}`;
        const answer = await askWhileRevoking(one, asked, id);
        if (answer.hasWaited) locking.push(one.operationId);
        return answer.status < 300 ? undefined : `with its access: ${answer.status} ${answer.text.slice(0, 200)}`;
      };
      expect(await failuresOf(mutations, (one) => judge(one).catch((error: Error) => error.message))).toEqual([]);
      expect(locking.sort()).toEqual(LOCKING);
    },
    LONG_MS,
  );
});
