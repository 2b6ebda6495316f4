import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Bed, type ContractRequest } from '@slipway/platform-testing/contract';
import { clientOf, type Answer, type ApiClient } from '../harness/boot-api.js';
import { changedTables, tableMarks } from '../harness/every-row.js';
import { Stack, until } from '../harness/stack.js';
import { pathOf } from './client.js';
import { ApiDocument, type DocumentedOperation } from './document.js';
import { ROWS } from './rows.js';

jest.setTimeout(240_000);

/** Why a POST accepts no `Idempotency-Key`. Every other POST must accept one. */
const WITHOUT_KEY: Record<string, string> = {
  createTargetBinding: 'the contract lists it among the operations that accept no key',
  createModelApiPublication: 'the contract lists it among the operations that accept no key',
};
/** Other methods are idempotent by themselves. The contract lets this upload accept a key. */
const WITH_KEY_AND_NO_POST = ['putSandboxFile'];
/** Requests with one key that arrive at the same time. The operations of the contract get more than the others. */
const AT_ONCE = 6;
const AT_ONCE_IN_CONTRACT = 30;
const IN_CONTRACT = ['createRollout', 'createRollback', 'approveAutopilotPlan', 'putSandboxFile'];
const WITH_SECRET: Record<string, string> = {
  createTenant: 'token',
  createToken: 'token',
  createWebhook: 'secret',
  rotateToken: 'token',
  rotateWebhookSecret: 'secret',
};

let stack: Stack;
let clients: ApiClient[];
let bed: Bed;
let document: ApiDocument;
let keyed: DocumentedOperation[];
let keys = 0;

beforeAll(async () => {
  // No worker: an operation stays as its request has left it. Two apis: a retry may
  // reach another process than the first request.
  stack = await Stack.start({ apis: 2, workers: 0 });
  clients = [0, 1].map((index) => clientOf(() => stack.apiUrl(index), stack.testDatabase, stack.token));
  bed = new Bed(clients[0]!);
  document = new ApiDocument((await clients[0]!.send('GET', '/openapi.json', { token: null })).body);
  keyed = document.operations.filter((one) => one.isIdempotent);
});

afterAll(async () => {
  await stack?.stop();
});

interface KeyedRequest {
  one: DocumentedOperation;
  asked: ContractRequest;
  key: string;
  /** The rows of the audit with its action, before it was sent. */
  audited: number;
}

async function prepared(one: DocumentedOperation): Promise<KeyedRequest> {
  const asked = await ROWS[one.operationId]!.valid(bed);
  return { one, asked, key: `key-${++keys}`, audited: await auditRowsOf(one) };
}

function send({ one, asked, key }: KeyedRequest, api: number, body: unknown = asked.body): Promise<Answer> {
  return clients[api]!.send(one.method, pathOf(one, asked), {
    body,
    token: asked.token,
    headers: { ...asked.headers, 'idempotency-key': key },
  });
}

/** Behaves like a client: retries while the first request is in progress. */
async function sendUntilAnswered(request: KeyedRequest, api: number): Promise<Answer> {
  let answer: Answer | undefined;
  await until(
    `${request.one.operationId} is answered`,
    async () => {
      answer = await send(request, api);
      if (answer.body?.error?.code !== 'idempotency_in_progress') return true;
      const { status, headers, body } = answer;
      expect([status, body.error.retryable, Number(headers['retry-after']) > 0]).toEqual([409, true, true]);
      return false;
    },
    60_000,
  );
  return answer!;
}

/** Every mutation writes one row in its own transaction. */
async function auditRowsOf({ operationId }: DocumentedOperation): Promise<number> {
  const [row] = await stack.query<{ count: string }>('select count(*) from audit_log where action = $1', [
    ROWS[operationId]!.audit,
  ]);
  return Number(row!.count);
}

const shown = (value: unknown) => JSON.stringify(value)?.slice(0, 400);

/** Returns how the answer to a repeated request differs from the answer to the first. */
function replayFault(one: DocumentedOperation, first: Answer, repeated: Answer): string | undefined {
  const isEnvelope = first.body?.operation !== undefined;
  const status = isEnvelope ? 200 : first.status;
  if (repeated.status !== status || repeated.headers['idempotency-replayed'] !== 'true')
    return `no replay: ${repeated.status} ${repeated.text.slice(0, 300)}`;
  const broken = document.violationOf(one, repeated);
  if (broken) return broken;
  if (isEnvelope) {
    const isAdopted = repeated.body.operation.id === first.body.operation.id && repeated.body.created === false;
    return isAdopted ? undefined : `another operation: ${shown(repeated.body)}`;
  }
  const secret = WITH_SECRET[one.operationId];
  const { warnings = [], ...body } = repeated.body;
  const { warnings: _warnings, ...expected } = first.body;
  const omitted = warnings.filter(({ code }: { code: string }) => code === 'secret_omitted');
  if (secret !== undefined && typeof first.body[secret] !== 'string') return `no ${secret}: ${shown(first.body)}`;
  if (omitted.map(({ field }: { field: string }) => field).join() !== (secret ?? '')) return `says ${shown(warnings)}`;
  const complete = secret === undefined ? expected : { ...expected, [secret]: null };
  return isSame(body, complete) ? undefined : `${shown(body)} instead of ${shown(complete)}`;
}

function isSame(one: unknown, other: unknown): boolean {
  const sorted = (value: unknown) =>
    JSON.stringify(value, (_key, part) =>
      part && typeof part === 'object' && !Array.isArray(part)
        ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
        : part,
    );
  return sorted(one) === sorted(other);
}

type Judge = (one: DocumentedOperation) => Promise<(string | undefined)[]>;

/** Collects the failures of all operations, so that one does not hide the others. */
async function failuresOf(operations: readonly DocumentedOperation[], judge: Judge): Promise<string[]> {
  const failures: string[] = [];
  for (const one of operations)
    for (const text of await judge(one)) if (text !== undefined) failures.push(`${one.operationId}: ${text}`);
  return failures;
}

const unless = (holds: boolean, text: string) => (holds ? undefined : text);

it('is accepted by every POST without a reason against it, and by no other mutation but the upload', () => {
  const posts = document.operations.filter(({ method }) => method === 'POST').map(({ operationId }) => operationId);
  const expected = posts.filter((operationId) => WITHOUT_KEY[operationId] === undefined);
  expect(keyed.map(({ operationId }) => operationId).sort()).toEqual([...expected, ...WITH_KEY_AND_NO_POST].sort());
  expect(posts).toEqual(expect.arrayContaining(Object.keys(WITHOUT_KEY)));
});

it('is answered with a warning by every mutation that does not accept it', async () => {
  const others = document.operations.filter((one) => one.method !== 'GET' && !one.isIdempotent);
  const failures = await failuresOf(others, async (one) => {
    const answer = await send(await prepared(one), 0);
    const codes = (answer.body?.warnings ?? []).map(({ code }: { code: string }) => code);
    return [
      unless(answer.status === ROWS[one.operationId]!.status, `${answer.status} ${answer.text.slice(0, 300)}`),
      unless(codes.includes('idempotency_key_ignored'), `warns of ${codes.join()}`),
      unless(answer.headers['x-slipway-ignored-headers'] === 'Idempotency-Key', 'has no header'),
    ];
  });
  expect(failures).toEqual([]);
});

it('gives requests that arrive at once at two processes one effect, and repeats change nothing', async () => {
  const failures = await failuresOf(keyed, async (one) => {
    const request = await prepared(one);
    const atOnce = IN_CONTRACT.includes(one.operationId) ? AT_ONCE_IN_CONTRACT : AT_ONCE;
    const answers = await Promise.all(
      Array.from({ length: atOnce }, (_, index) => sendUntilAnswered(request, index % 2)),
    );
    const [first, ...more] = answers.filter((answer) => answer.headers['idempotency-replayed'] === undefined);
    if (!first || more.length > 0) return [`${more.length + Number(!!first)} first answers of ${atOnce}`];
    const before = await tableMarks(clients[0]!);
    const again = await send(request, 1);
    const changed = changedTables(before, await tableMarks(clients[0]!));
    return [
      unless(first.status === ROWS[one.operationId]!.status && (first.body?.created ?? true), `first ${first.text}`),
      unless(!isWarned(first), `warns of ${shown(first.body?.warnings)}`),
      ...[...answers, again].filter((answer) => answer !== first).map((answer) => replayFault(one, first, answer)),
      unless((await auditRowsOf(one)) === request.audited + 1, 'has other than one effect'),
      unless(changed.length === 0, `a repeat changes ${changed.join()}`),
    ];
  });
  expect(failures).toEqual([]);
  const [row] = await stack.query<{ count: string }>(
    `select count(*) from idempotency_keys where answer::text ~ 'slw_[a-z0-9]+_|whsec_'`,
  );
  expect(row!.count).toBe('0');
});

const isWarned = ({ body }: Answer) =>
  (body?.warnings ?? []).some(({ code }: { code: string }) => code === 'idempotency_key_ignored');

it('is refused with another body, is the same if it is quoted, and is not used up by a refusal', async () => {
  const failures = await failuresOf(keyed, async (one) => {
    const request = await prepared(one);
    const malformed = await send(request, 0, '{"a":');
    const first = await send(request, 0);
    const reused = await send(request, 1, { ...request.asked.body, x_other: 1 });
    const quoted = await send({ ...request, key: `"${request.key}"` }, 1);
    return [
      unless(malformed.status === 400, `malformed: ${malformed.status}`),
      unless(first.status === ROWS[one.operationId]!.status, `first: ${first.status} ${first.text.slice(0, 300)}`),
      unless(reused.status === 422 && reused.body.error.code === 'idempotency_key_reused', `reused: ${reused.text}`),
      replayFault(one, first, quoted),
      unless((await auditRowsOf(one)) === request.audited + 1, 'has other than one effect'),
    ];
  });
  expect(failures).toEqual([]);
});

it('is adopted by a retry after kill -9 between the commit and the answer', async () => {
  const point = 'http:before-keyed-answer';
  await stack.kill('api', 1);
  const requests: KeyedRequest[] = [];
  for (const one of keyed) requests.push(await prepared(one));
  // Requests for different operations may write the same action.
  const effects = async () => Promise.all(keyed.map(auditRowsOf));
  const before = await effects();
  stack.spawn('api', 1, { SLIPWAY_PAUSE_POINT: point });
  await stack.ready();
  const unheard = requests.map((request) =>
    send(request, 1).then(
      (answer) => `${request.one.operationId}: ${answer.status} ${answer.text.slice(0, 300)}`,
      () => 'no answer',
    ),
  );
  const paused = () => stack.logOf('api', 1).split(`paused at ${point}`).length - 1;
  await until(
    'every request waits with its effect',
    async () => paused() === keyed.length,
    60_000,
    () => stack.logOf('api', 1),
  );
  const after = await effects();
  await stack.kill('api', 1);
  expect(new Set(await Promise.all(unheard))).toEqual(new Set(['no answer']));
  const failures: string[] = [];
  for (const request of requests) {
    const retried = await sendUntilAnswered(request, 0);
    if (retried.headers['idempotency-replayed'] !== 'true' || retried.status >= 300)
      failures.push(`${request.one.operationId}: ${retried.status} ${retried.text.slice(0, 300)}`);
  }
  expect(failures).toEqual([]);
  expect(await effects()).toEqual(after);
  expect(after.every((count, index) => count > before[index]!)).toBe(true);
});
