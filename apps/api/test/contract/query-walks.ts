import { PAGE_BYTES } from '@slipway/platform-database';
import type { ContractRequest, Row } from '@slipway/platform-testing/contract';
import { outcome, unless, type ContractClient } from './client.js';
import type { DocumentedOperation } from './document.js';
import { FAT_BYTES, FAT_ROWS, FILLS, fatten } from './fat-rows.js';

/** Returns how a list breaks the bounds of its pages, or takes a cursor that is none of its own. */
export async function limitFaults(
  client: ContractClient,
  one: DocumentedOperation,
  row: Row,
  asked: ContractRequest,
): Promise<(string | undefined)[]> {
  const page = async (query: Record<string, string>, status: number, code?: string): Promise<string | undefined> =>
    unless(
      await client.ask(one, { ...asked, query: { ...asked.query, ...query } }),
      status,
      code,
      JSON.stringify(query),
    );
  const foreign = Buffer.from(JSON.stringify(['anotherList', 'a', 'b'])).toString('base64url');
  return [
    await page({ limit: '1' }, row.status),
    await page({ limit: '200' }, row.status),
    await page({ limit: '0' }, 422, 'validation_failed'),
    await page({ limit: '201' }, 422, 'validation_failed'),
    await page({ limit: '-1' }, 422, 'validation_failed'),
    await page({ limit: 'abc' }, 400, 'invalid_parameter'),
    await page({ limit: '1.5' }, 400, 'invalid_parameter'),
    await page({ limit: '' }, 400, 'invalid_parameter'),
    await page({ cursor: 'nonsense' }, 400, 'invalid_parameter'),
    await page({ cursor: '' }, 400, 'invalid_parameter'),
    await page({ cursor: foreign }, 400, 'invalid_parameter'),
  ];
}

const timeOf = (shown: any): number => Date.parse(shown.created_at ?? shown.at);
const idOf = (shown: any): string => shown.id ?? shown.event_id;
const valueOf = (shown: any, name: string) => shown[name] ?? shown.approval?.[name];

/**
 * Returns how a list chooses wrong rows by their time, in both orders, or by their state.
 * @returns also whether it has rows to choose by their time
 */
export async function filterFaults(
  client: ContractClient,
  one: DocumentedOperation,
  asked: ContractRequest,
): Promise<{ faults: (string | undefined)[]; isByTime: boolean }> {
  const list = (query: Record<string, string>) =>
    client.ask(one, { ...asked, query: { ...asked.query, limit: '20', ...query } });
  const { data: newest } = (await list({})).body;
  const faults: (string | undefined)[] = [];
  const check = (what: string, isSo: boolean) => faults.push(isSo ? undefined : what);
  const isByTime = one.query.some(({ name }) => name === 'until') && newest.length > 0;
  if (isByTime) {
    const middle = newest[Math.floor(newest.length / 2)];
    const at: string = middle.created_at ?? middle.at;
    const since = (await list({ since: at, order: 'asc' })).body.data;
    check('since', since.length > 0 && since.every((shown: any) => timeOf(shown) >= Date.parse(at)));
    check(
      'since has the row itself',
      since.some((shown: any) => timeOf(shown) === Date.parse(at)),
    );
    const until = (await list({ until: at })).body.data;
    check(
      'until',
      until.every((shown: any) => timeOf(shown) < Date.parse(at)),
    );
    const before = (await list({ until: '2000-01-01T00:00:00Z' })).body.data;
    check('until long ago', before.length === 0);
    const oldest = (await list({ order: 'asc', limit: '2' })).body;
    if (oldest.next_cursor !== null) {
      const { next_cursor: cursor } = oldest;
      const second = (await list({ order: 'asc', limit: '2', cursor })).body.data;
      const ids = [...oldest.data, ...second].map(idOf);
      check('ascending', ids.join() === [...new Set(ids)].sort().join());
      faults.push(unless(await list({ cursor }), 400, 'invalid_parameter', 'the cursor of the other order'));
    }
  }
  for (const { name, schema } of one.query) {
    const { enum: values } = client.document.resolve(schema);
    if (!['state', 'status'].includes(name) || !values) continue;
    for (const value of values as string[]) {
      const chosen = (await list({ [name]: value })).body.data;
      check(
        `${name}=${value}`,
        chosen.every((shown: any) => valueOf(shown, name) === value),
      );
      if (newest.some((shown: any) => valueOf(shown, name) === value))
        check(`${name}=${value} has rows`, chosen.length > 0);
    }
  }
  return { faults, isByTime };
}

/** Returns which parameters of an operation take a value that does not match their schema. */
export function parameterFaults(
  client: ContractClient,
  one: DocumentedOperation,
  asked: ContractRequest,
): Promise<(string | undefined)[]> {
  return Promise.all(
    one.query.flatMap(({ name, schema: given }) => {
      const schema = client.document.resolve(given);
      const wrong = [
        ...(schema.enum ? ['none-of-these'] : []),
        ...(['integer', 'number', 'boolean'].includes(String(schema.type)) ? ['abc', ''] : []),
        'a\0b',
      ];
      // The body contains the same fields, so these are not read.
      if (one.takesStream) return [];
      return wrong.map(async (value) => {
        const answer = await client.ask(one, { ...asked, query: { ...asked.query, [name]: value } });
        return [400, 422].includes(answer.status)
          ? undefined
          : `${name}=${JSON.stringify(value)} is ${outcome(answer)}`;
      });
    }),
  );
}

/** Makes the rows of a list large. Returns how its pages are too long, or omit or repeat a row. */
export async function largePageFault(
  client: ContractClient,
  one: DocumentedOperation,
  row: Row,
  asked: ContractRequest,
): Promise<string | undefined> {
  await fatten(client.api, FILLS[one.operationId]!, asked);
  const seen: string[] = [];
  let cursor: string | null = '';
  let pages = 0;
  while (cursor !== null) {
    const query: Record<string, string> = { ...asked.query, limit: '200', ...(cursor && { cursor }) };
    const answer = await client.askUnchecked(one, { ...asked, query });
    if (answer.status !== row.status) return `${answer.status} ${answer.text.slice(0, 250)}`;
    if (Buffer.byteLength(answer.text) > PAGE_BYTES + 2 * FAT_BYTES)
      return `page ${pages} has ${Buffer.byteLength(answer.text)} bytes`;
    seen.push(...answer.body.data.map((shown: unknown) => JSON.stringify(shown)));
    cursor = answer.body.next_cursor;
    pages += 1;
  }
  if (new Set(seen).size < seen.length) return 'a row is in two pages';
  const fat = seen.filter((text) => text.length > FAT_BYTES / 2 || text.includes('copy'));
  return pages > 1 && fat.length >= FAT_ROWS ? undefined : `${fat.length} large rows in ${pages} pages`;
}
