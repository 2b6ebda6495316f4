import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { clientOf, type Answer, type ApiClient } from '../harness/boot-api.js';
import { pathOf } from './client.js';
import { ApiDocument, type DocumentedOperation } from './document.js';
import { Bed, type ContractRequest, type KeyedRow } from '@slipway/platform-testing/contract';
import { ROWS } from './rows.js';
import { Stack } from '../harness/stack.js';

jest.setTimeout(240_000);

const AT_ONCE = 50;

const operationRow = (kind: string, started: string, other: KeyedRow['other']): KeyedRow => ({
  other,
  effects: {
    operations: `select count(*) from operations where resource_name = $1 and kind = '${kind}' and idempotency_key is not null`,
    events: `select count(*) from events where subject = 'deployments/' || $1 and type = '${started}' and operation_id in (select id from operations where idempotency_key is not null)`,
    dispatches: `select count(*) from outbox where operation_id in (select id from operations where resource_name = $1 and kind = '${kind}' and idempotency_key is not null)`,
    // Rows of earlier requests carry no key: those of the same action are subtracted.
    audit: `select (select count(*) from audit_log where resource_name = $1 and action = '${kind}.create')
      - (select count(*) from operations where resource_name = $1 and kind = '${kind}' and idempotency_key is null) as count`,
  },
  identity: (body) => body.operation.id,
});

/**
 * One row per operation that accepts `Idempotency-Key`, from here or from its area's own rows;
 * an operation without a row fails the test.
 */
const KEYED: Record<string, KeyedRow> = {
  ...Object.fromEntries(Object.entries(ROWS).flatMap(([id, { keyed }]) => (keyed ? [[id, keyed]] : []))),
  createRollout: operationRow('rollout', 'rollout.started', (body) => ({ ...body, reason: 'another' })),
  createRollback: operationRow('rollback', 'rollback.started', (body) => ({ ...body, reason: 'another' })),
  approveAutopilotPlan: {
    other: (body) => ({ ...body, comment: 'another' }),
    effects: {
      events: `select count(*) from events where subject = 'plans/' || $1 and type = 'plan.approved'`,
      audit: `select count(*) from audit_log where resource_name = $1 and action = 'plan.approve'`,
    },
    identity: (body) => body,
  },
  putSandboxFile: {
    other: (body) => ({ ...body, content: 'another' }),
    effects: {
      files: 'select count(*) from sandbox_files where sandbox_id = $1',
      audit: `select count(*) from audit_log where resource_name = $1 and action = 'sandbox_file.put'`,
    },
    identity: (body) => body,
  },
};

let stack: Stack;
let clients: ApiClient[];
let bed: Bed;
let operations: Map<string, DocumentedOperation>;
let keys = 0;

beforeAll(async () => {
  // No worker: an operation stays as its request has left it. Two apis: a retry may
  // reach another process than the first request.
  stack = await Stack.start({ apis: 2, workers: 0 });
  clients = [0, 1].map((index) => clientOf(() => stack.apiUrl(index), stack.testDatabase, stack.token));
  bed = new Bed(clients[0]!);
  const document = new ApiDocument((await clients[0]!.send('GET', '/openapi.json', { token: null })).body);
  operations = new Map(document.operations.map((one) => [one.operationId, one]));
});

afterAll(async () => {
  await stack?.stop();
});

interface KeyedRequest {
  asked: ContractRequest;
  key: string;
}

async function prepared(operationId: string): Promise<KeyedRequest> {
  return { asked: await ROWS[operationId]!.valid(bed), key: `key-${++keys}` };
}

function send(operationId: string, { asked, key }: KeyedRequest, api: number, body = asked.body): Promise<Answer> {
  const one = operations.get(operationId)!;
  return clients[api]!.send(one.method, pathOf(one, asked), {
    body,
    token: asked.token,
    headers: { ...asked.headers, 'idempotency-key': key },
  });
}

/** Behaves like a client: retries while the first request is in progress. */
async function sendUntilAnswered(operationId: string, keyed: KeyedRequest, api: number): Promise<Answer> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const answer = await send(operationId, keyed, api);
    if (answer.body?.error?.code !== 'idempotency_in_progress') return answer;
    expect([answer.status, answer.body.error.retryable, Number(answer.headers['retry-after']) > 0]).toEqual([
      409,
      true,
      true,
    ]);
    if (Date.now() > deadline) throw new Error('the first request is never answered');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function effectsOf(operationId: string, { asked }: KeyedRequest): Promise<Record<string, number>> {
  const [resource = asked.body?.['name']] = Object.values<unknown>(asked.params ?? {});
  const counts: Record<string, number> = {};
  for (const [name, sql] of Object.entries(KEYED[operationId]!.effects)) {
    const [row] = await stack.query<{ count: string }>(sql, [resource]);
    counts[name] = Number(row!.count);
  }
  return counts;
}

function once(operationId: string): Record<string, number> {
  return Object.fromEntries(Object.keys(KEYED[operationId]!.effects).map((name) => [name, 1]));
}

function expectReplay(operationId: string, answer: Answer): void {
  const isEnvelope = answer.body?.operation !== undefined;
  expect([operationId, answer.status, answer.headers['idempotency-replayed']]).toEqual([
    operationId,
    isEnvelope ? 200 : ROWS[operationId]!.status,
    'true',
  ]);
  if (isEnvelope) expect(answer.body.created).toBe(false);
}

it('has a row for every operation that accepts a key', () => {
  const accepting = [...operations.values()].filter((one) => one.isIdempotent).map((one) => one.operationId);
  expect(Object.keys(KEYED).sort()).toEqual(accepting.sort());
});

describe.each(Object.keys(KEYED))('%s', (operationId) => {
  const row = KEYED[operationId]!;

  it(`has one effect when ${AT_ONCE} requests with one key arrive at once, at two processes`, async () => {
    const keyed = await prepared(operationId);
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) => sendUntilAnswered(operationId, keyed, index % 2)),
    );
    const first = answers.filter((answer) => answer.headers['idempotency-replayed'] === undefined);
    expect(first.map((answer) => [answer.status, answer.body?.created ?? true])).toEqual([
      [ROWS[operationId]!.status, true],
    ]);
    for (const answer of answers) if (answer !== first[0]) expectReplay(operationId, answer);
    for (const answer of answers) expect(row.identity(answer.body)).toEqual(row.identity(first[0]!.body));
    expect(await effectsOf(operationId, keyed)).toEqual(once(operationId));
  });

  it('refuses the key with another body, treats a quoted key as the same, and does not use up a refused key', async () => {
    const keyed = await prepared(operationId);
    const mistype = row.mistaken ?? ((body) => ({ ...body, reason: 7, comment: 7, mode: 7, description: 7 }));
    const mistaken = await send(operationId, keyed, 0, mistype(keyed.asked.body));
    expect([mistaken.status, mistaken.headers['idempotency-replayed']]).toEqual([400, undefined]);
    const first = await send(operationId, keyed, 0);
    expect(first.status).toBe(ROWS[operationId]!.status);
    const reused = await send(operationId, keyed, 1, row.other(keyed.asked.body ?? {}));
    expect([reused.status, reused.body.error.code]).toEqual([422, 'idempotency_key_reused']);
    const quoted = await send(operationId, { ...keyed, key: `"${keyed.key}"` }, 1);
    expectReplay(operationId, quoted);
    expect(row.identity(quoted.body)).toEqual(row.identity(first.body));
    expect(await effectsOf(operationId, keyed)).toEqual(once(operationId));
  });

  it('is adopted by a retry after kill -9 between the commit and the answer', async () => {
    const keyed = await prepared(operationId);
    const point = `http:before-answer:${operationId}`;
    await stack.kill('api', 1);
    stack.spawn('api', 1, { SLIPWAY_PAUSE_POINT: point });
    await stack.ready();
    const unheard = send(operationId, keyed, 1).then(
      (answer) => answer.status,
      () => 'no answer',
    );
    await stack.paused('api', 1, point);
    expect(await effectsOf(operationId, keyed)).toEqual(once(operationId));
    await stack.kill('api', 1);
    expect(await unheard).toBe('no answer');
    const retried = await sendUntilAnswered(operationId, keyed, 0);
    expectReplay(operationId, retried);
    expect(await effectsOf(operationId, keyed)).toEqual(once(operationId));
    stack.spawn('api', 1);
    await stack.ready();
    const again = await send(operationId, keyed, 1);
    expectReplay(operationId, again);
    expect(row.identity(again.body)).toEqual(row.identity(retried.body));
  });
});
