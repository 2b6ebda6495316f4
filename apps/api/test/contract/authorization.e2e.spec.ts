import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { operationsOf } from '@slipway/platform-http';
import { Bed, type ContractRequest } from '@slipway/platform-testing/contract';
import { bootApi, type Answer, type TestApi } from '../harness/boot-api.js';
import { pathOf } from './client.js';
import { ROWS } from './rows.js';

const SMALLER = { operator: 'viewer', admin: 'operator' } as const;
const GARBAGE = ['garbage', `slw_none_${'x'.repeat(40)}`, 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.'];

interface Case {
  operationId: string;
  method: string;
  path: string;
  scope: 'viewer' | 'operator' | 'admin';
}

let api: TestApi;
let cases: Case[];
let stranger: string;
const tokens = new Map<string, string>();

beforeAll(async () => {
  api = await bootApi();
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
    const bed = new Bed(api);
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
