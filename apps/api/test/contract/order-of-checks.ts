import type { ContractRequest } from '@slipway/platform-testing/contract';
import type { Answer } from '../harness/boot-api.js';
import { type ContractClient, type OutgoingRequest, pathOf, unless } from './client.js';
import type { DocumentedOperation } from './document.js';
import { placed, propertiesOf, typeOf } from './schema.js';

/** A request in which several things are wrong, and the answer to the first of them. */
interface Wrong {
  what: string;
  sent: OutgoingRequest;
  status: number;
}

const UNKNOWN = 'no-such-thing';
const CHANGED = { 'if-match': '"not-this-one"' };
const SMALLER: Readonly<Record<string, 'viewer' | 'operator' | undefined>> = { operator: 'viewer', admin: 'operator' };

/**
 * Returns how an operation breaks the order of checks: 401, 403, 400, 404, 422, 412. Each request has the fault of its
 * line and the faults of all lines below that the operation can have.
 * @param asked a valid request
 * @param tokens with exactly this scope
 */
export async function orderFaults(
  client: ContractClient,
  one: DocumentedOperation,
  asked: ContractRequest,
  tokens: Record<'viewer' | 'operator', string>,
): Promise<string[]> {
  const headers = { ...asked.headers, ...(one.isConditional && CHANGED) };
  const nowhere = Object.fromEntries(one.placeholders.map((name) => [name, UNKNOWN]));
  const broken = brokenBody(client, one, asked);
  const unknown = { ...asked, headers, params: one.placeholders.length > 0 ? nowhere : asked.params };
  const malformed = { ...unknown, text: '{"a":' };
  const lesser = SMALLER[String(one.operation['x-required-scope'])];
  const wrongs: (Wrong | false | undefined)[] = [
    { what: 'a wrong token', sent: { ...malformed, token: 'garbage' }, status: 401 },
    lesser !== undefined && { what: `a ${lesser}`, sent: { ...malformed, token: tokens[lesser] }, status: 403 },
    { what: 'a malformed body', sent: malformed, status: 400 },
    one.placeholders.length > 0 && {
      what: 'an unknown resource',
      sent: { ...unknown, ...(broken && { body: broken }) },
      status: 404,
    },
    broken && { what: 'a broken rule', sent: { ...asked, headers, body: broken }, status: 422 },
    one.isConditional && { what: 'another ETag', sent: { ...asked, headers }, status: 412 },
  ];
  const faults = await Promise.all(
    wrongs.map(async (wrong) => {
      if (!wrong) return undefined;
      const answer = await client.ask(one, wrong.sent);
      return answer.status === wrong.status
        ? undefined
        : `${wrong.what} is ${shortOf(answer)} instead of ${wrong.status}`;
    }),
  );
  return faults.filter((fault) => fault !== undefined);
}

/** Returns which conditions and parameters a mutation ignores. It knows them before it looks for its resource. */
export async function dependencyFaults(
  client: ContractClient,
  one: DocumentedOperation,
  asked: ContractRequest,
): Promise<(string | undefined)[]> {
  if (one.method === 'GET') return [];
  const params = Object.fromEntries(one.placeholders.map((name) => [name, 'no-such-thing']));
  const conditions = ['if-match', 'if-none-match', 'if-unmodified-since'].map(async (name) => {
    const headers = { ...asked.headers, [name]: name === 'if-none-match' ? '*' : '"x"' };
    const answer = await client.ask(one, { ...asked, params, headers });
    return one.isConditional && name !== 'if-unmodified-since'
      ? unless(answer, 404, /_not_found$/, name)
      : unless(answer, 400, 'condition_not_supported', name);
  });
  const parameters = ['dry_run', 'validateOnly', 'force'].map(async (name) =>
    unless(await client.ask(one, { ...asked, params, query: { [name]: 'true' } }), 400, 'invalid_parameter', name),
  );
  return Promise.all([...conditions, ...parameters]);
}

/** Returns a body of the right types in which one field breaks a bound. */
function brokenBody(client: ContractClient, one: DocumentedOperation, asked: ContractRequest) {
  const { resolve } = client.document;
  const bounded =
    one.body &&
    propertiesOf(one.body, resolve).find(({ schema, path }) => {
      return path.length === 1 && typeOf(schema) === 'string' && schema.maxLength !== undefined && !schema.enum;
    });
  if (!bounded) return undefined;
  const tooLong = 'a'.repeat(bounded.schema.maxLength! + 1);
  return placed((asked.body as Record<string, unknown> | undefined) ?? {}, one.body!, bounded.path, tooLong, resolve);
}

/** Returns how a path breaks the rules of methods and media types that hold for every operation. */
export async function formFaults(
  client: ContractClient,
  one: DocumentedOperation,
  asked: ContractRequest,
): Promise<string[]> {
  const { api } = client;
  const path = pathOf(one, { ...asked, query: {} });
  const odd = { headers: { 'content-type': 'nonsense', accept: 'image/png' }, body: '{"a', token: null };
  const faults: string[] = [];
  const judge = (what: string, isGood: boolean, answer: Answer): void => {
    if (!isGood) faults.push(`${what}: ${shortOf(answer)}, Allow ${answer.headers['allow']}`);
  };
  const options = await api.send('OPTIONS', path, { token: null });
  const allowed = (options.headers['allow'] ?? '').split(', ');
  judge('OPTIONS', options.status === 204 && allowed.includes(one.method) && allowed.includes('OPTIONS'), options);
  for (const method of ['PROPFIND', 'QUERY', 'PURGE']) {
    const refused = await api.send(method, `${path}?strict=maybe`, odd);
    const hasAllow = refused.headers['allow'] === options.headers['allow'];
    judge(method, refused.status === 405 && refused.body?.error.code === 'method_not_allowed' && hasAllow, refused);
  }
  if (one.method === 'GET') {
    const get = await client.ask(one, asked);
    const head = await api.send('HEAD', pathOf(one, asked), { token: asked.token, headers: asked.headers });
    const isSame = head.headers['content-type'] === get.headers['content-type'];
    judge('HEAD', head.status === get.status && head.text === '' && isSame, head);
  }
  const hasContent = Object.entries(one.operation.responses).some(
    ([status, response]) => status.startsWith('2') && (response as { content?: object }).content !== undefined,
  );
  if (hasContent) {
    const refused = await client.ask(one, { ...asked, headers: { ...asked.headers, accept: 'image/png, */*;q=0' } });
    judge('Accept', refused.status === 406 && refused.body?.error.code === 'not_acceptable', refused);
  }
  return faults;
}

function shortOf({ status, body, text }: Answer): string {
  return `${status} ${body?.error?.code ?? text.slice(0, 100)}`;
}
