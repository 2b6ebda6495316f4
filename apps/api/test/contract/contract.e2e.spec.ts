import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bootApi, type Answer, type TestApi } from '../harness/boot-api.js';
import { ContractClient, names, outcome, unless, type OutgoingRequest } from './client.js';
import { ApiDocument, type DocumentedOperation } from './document.js';
import { Bed, type ContractRequest, type Row } from '@slipway/platform-testing/contract';
import { ROWS } from './rows.js';
import { dependencyFaults, formFaults, orderFaults } from './order-of-checks.js';
import { filterFaults, largePageFault, limitFaults, parameterFaults } from './query-walks.js';
import { limits, nestedObjects, nulls, withUnknownFields, wrongTypes } from './variations.js';
import { FILLS, MAKERS } from './fat-rows.js';
import { everyRow } from '../harness/every-row.js';

jest.setTimeout(300_000);

const home = mkdtempSync(path.join(tmpdir(), 'slipway-contract-'));
let api: TestApi;
let client: ContractClient;
let bed: Bed;
let operations: DocumentedOperation[];
let withBody: DocumentedOperation[];

beforeAll(async () => {
  api = await bootApi({ SLIPWAY_HOME: home });
  client = new ContractClient(api, await ApiDocument.of(api));
  bed = new Bed(api);
  operations = client.document.operations.filter((one) => ROWS[one.operationId]);
  withBody = operations.filter((one) => one.body);
});

afterAll(async () => {
  await api?.close();
  rmSync(home, { recursive: true, force: true });
});

// Every answer has a published status and code, the published shape and X-Request-Id, is
// not slow, and is no failure of the service.
afterEach(() => {
  expect(client.violations.splice(0)).toEqual([]);
});

type Judge = (
  one: DocumentedOperation,
  row: Row,
  asked: ContractRequest,
) => Promise<string | undefined | (string | undefined)[]>;

/**
 * Checks each operation with a fresh valid request and collects the failures, so
 * that one failure does not hide the others.
 */
async function failuresOf(chosen: DocumentedOperation[], judge: Judge): Promise<string[]> {
  const failures: string[] = [];
  for (const one of chosen) {
    const row = ROWS[one.operationId]!;
    const found = [await judge(one, row, await row.valid(bed))].flat();
    failures.push(
      ...found
        .filter((text) => text !== undefined)
        .map((text) => `${one.operationId} (${one.method} ${one.path}): ${text}`),
    );
  }
  return failures;
}

it('has a row for every operation of the document, and no other row', () => {
  expect(Object.keys(ROWS).sort()).toEqual(client.document.operations.map((one) => one.operationId).sort());
});

it('detects an answer that breaks the document', async () => {
  const { document } = client;
  const one = operations.find(({ operationId }) => operationId === 'whoAmI')!;
  const sound = await client.ask(one, {});
  const refused = await client.ask(one, { token: 'garbage' });
  expect([document.violationOf(one, sound), document.violationOf(one, refused)]).toEqual([undefined, undefined]);
  const [field] = Object.keys(sound.body);
  const { error } = refused.body;
  const broken: Partial<Answer>[] = [
    { body: { ...sound.body, [field!]: undefined } },
    { body: { ...sound.body, [field!]: 7 } },
    { body: { ...sound.body, secret: 'x' } },
    { status: 201 },
    { headers: { ...sound.headers, 'content-type': 'text/html' } },
  ];
  for (const change of broken)
    expect([change, document.violationOf(one, { ...sound, ...change })]).toEqual([change, expect.any(String)]);
  for (const change of [
    { code: undefined },
    { code: 'surprise' },
    { category: 'other' },
    { retryable: true },
    { secret: 'x' },
    { request_id: 'other' },
  ]) {
    expect([change, document.violationOf(one, { ...refused, body: { error: { ...error, ...change } } })]).toEqual([
      change,
      expect.any(String),
    ]);
  }
});

it('does the work of each operation on the minimal valid request', async () => {
  expect(
    await failuresOf(operations, async (one, row, asked) =>
      unless(await client.ask(one, asked), row.status, undefined, 'valid'),
    ),
  ).toEqual([]);
});

describe('the path', () => {
  it('names existing resources: each unknown id is a 404 of that resource', async () => {
    const judge: Judge = (one, _row, asked) =>
      Promise.all(
        one.placeholders.map(async (name) =>
          unless(
            await client.ask(one, { ...asked, params: { ...asked.params, [name]: 'no-such-thing' } }),
            404,
            /_not_found$/,
            name,
          ),
        ),
      );
    expect(await failuresOf(operations, judge)).toEqual([]);
  });

  it('is 400 if a parameter cannot be text, or is too long', async () => {
    const judge: Judge = (one, _row, asked) =>
      Promise.all(
        one.placeholders.flatMap((name) =>
          [`a\0b`, 'a'.repeat(1_025)].map(async (value) =>
            unless(
              await client.ask(one, { ...asked, params: { ...asked.params, [name]: value } }),
              400,
              'path_invalid',
              JSON.stringify(value).slice(0, 10),
            ),
          ),
        ),
      );
    expect(await failuresOf(operations, judge)).toEqual([]);
  });

  it('names the allowed methods if another is used', async () => {
    const judge: Judge = async (one, _row, asked) => {
      const methods = operations.filter(({ path: other }) => other === one.path).map(({ method }) => method);
      const other = ['PATCH', 'DELETE', 'PUT', 'POST'].find((method) => !methods.includes(method))!;
      const answer = await client.ask(one, { params: asked.params, method: other });
      const allowed = (answer.headers['allow'] ?? '').split(', ');
      const isNamed = methods.every((method) => allowed.includes(method)) && !allowed.includes(other);
      return (
        unless(answer, 405, 'method_not_allowed', other) ??
        (isNamed ? undefined : `Allow is ${allowed.join()} after ${other}`)
      );
    };
    expect(await failuresOf(operations, judge)).toEqual([]);
  });
});

describe('what a request depends on', () => {
  it('is obeyed or refused: a mutation knows its conditions and parameters, before it looks for its resource', async () => {
    const judge: Judge = (one, _row, asked) => dependencyFaults(client, one, asked);
    expect(await failuresOf(operations, judge)).toEqual([]);
  });

  it('is judged in one order: 401, 403, 400, 404, 422, 412, whatever else is wrong', async () => {
    const tokens = { viewer: await api.createToken('viewer'), operator: await api.createToken('operator') };
    const judge: Judge = (one, _row, asked) => orderFaults(client, one, asked, tokens);
    const chosen = withBody.filter(({ method }) => method !== 'GET');
    expect(await failuresOf(chosen, judge)).toEqual([]);
  });

  it('has a method and a media type that are negotiated alike everywhere', async () => {
    const judge: Judge = (one, _row, asked) => formFaults(client, one, asked);
    expect(await failuresOf(operations, judge)).toEqual([]);
  });

  it('has an ETag, if it is a single resource that was read', async () => {
    const judge: Judge = async (one, row, asked) => {
      if (one.method !== 'GET') return undefined;
      const answer = await client.ask(one, row.valid ? await row.valid(bed) : asked);
      const isJson = String(answer.headers['content-type']).startsWith('application/json');
      if (answer.status !== 200 || !isJson) return undefined;
      const etag = String(answer.headers['etag']);
      return /^"[^"]+"$/.test(etag) ? undefined : `ETag is ${etag}`;
    };
    expect(await failuresOf(operations, judge)).toEqual([]);
  });
});

describe('the body', () => {
  it('is 400 if it is not JSON, or not an object', async () => {
    const malformed = [
      '{"a":',
      'nonsense',
      '{"a":1}}',
      "{'a':1}",
      new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]),
      `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`,
    ];
    const judge: Judge = async (one, _row, asked) => [
      ...(await Promise.all(
        malformed.map(async (text) =>
          unless(await client.ask(one, { ...asked, text }), 400, 'invalid_json', String(text).slice(0, 12)),
        ),
      )),
      ...(await Promise.all(
        ['[]', '"text"', '7', 'null'].map(async (text) =>
          unless(await client.ask(one, { ...asked, text }), 400, 'invalid_parameter', text),
        ),
      )),
    ];
    expect(await failuresOf(withBody, judge)).toEqual([]);
  });

  it('is 415 if it has another media type', async () => {
    const judge: Judge = (one, _row, asked) => {
      const types = [
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/xml',
        ...(one.takesStream ? [] : ['application/octet-stream']),
      ];
      return Promise.all(
        types.map(async (type) =>
          unless(
            await client.ask(one, { ...asked, text: 'a=b', headers: { ...asked.headers, 'content-type': type } }),
            415,
            'unsupported_media_type',
            type,
          ),
        ),
      );
    };
    expect(await failuresOf(withBody, judge)).toEqual([]);
  });

  it('counts as {} if it is absent: both succeed, or both are refused in the same way', async () => {
    const judge: Judge = async (one, row, asked) => {
      const empty = await client.ask(one, { ...asked, body: {} });
      const absent = await client.ask(one, { ...(await row.valid(bed)), body: undefined });
      const blank = await client.ask(one, {
        ...(await row.valid(bed)),
        text: '',
        headers: { 'content-type': 'application/json' },
      });
      if (outcome(empty) !== outcome(absent) || outcome(empty) !== outcome(blank))
        return `{} is ${outcome(empty)}, absent ${outcome(absent)}, blank ${outcome(blank)}`;
      return empty.status < 300 || empty.status === 422 ? undefined : `{} is ${outcome(empty)}`;
    };
    expect(await failuresOf(withBody, judge)).toEqual([]);
  });

  it('is 400 invalid_parameter, naming the field, if a property has another type', async () => {
    const { resolve } = client.document;
    const judge: Judge = async (one, _row, asked) => {
      const failures: (string | undefined)[] = [];
      for (const variation of wrongTypes(one.body!, asked.body ?? {}, resolve)) {
        const answer = await client.ask(one, { ...asked, body: variation.body });
        failures.push(
          unless(answer, 400, 'invalid_parameter', variation.what) ??
            (names(answer, variation) ? undefined : `${variation.what}: ${answer.text}`),
        );
      }
      return failures;
    };
    expect(await failuresOf(withBody, judge)).toEqual([]);
  });

  it('may be null in every field that the document allows to be null, whatever its type', async () => {
    const judge: Judge = async (one, _row, asked) => {
      const failures: (string | undefined)[] = [];
      for (const variation of nulls(one.body!, asked.body ?? {}, client.document.resolve)) {
        const answer = await client.ask(one, { ...asked, body: variation.body });
        // A rule of several fields may require one of them; then null is refused like an omission, by 422 `required`.
        const isRefused = names(answer, variation) || answer.body?.error?.code === 'invalid_parameter';
        failures.push(isRefused ? `${variation.what} is refused: ${answer.text}` : undefined);
      }
      return failures;
    };
    expect(await failuresOf(withBody, judge)).toEqual([]);
  });

  it('may have unknown fields in every object: it succeeds, and a warning names each', async () => {
    const { resolve } = client.document;
    const judge: Judge = async (one, row, asked) => {
      const least = asked.body ?? {};
      const full = row.full?.(least) ?? least;
      const { body, fields } = withUnknownFields(one.body!, full, resolve);
      const untold = nestedObjects(one.body!, resolve).filter(
        (parent) => !row.apart?.includes(parent) && !fields.includes(`${parent}.x_nobody_knows`),
      );
      if (untold.length > 0) return `the row's full body lacks ${untold.join(', ')}`;
      const answer = await client.ask(one, { ...asked, body });
      if (answer.status >= 300) return unless(answer, row.status, undefined, JSON.stringify(body));
      const told = (answer.body.warnings ?? []).map((warning: any) => `${warning.code} ${warning.field}`);
      return JSON.stringify(told) === JSON.stringify(fields.map((field) => `unknown_field ${field}`))
        ? undefined
        : `warned of ${told.join()} instead of ${fields.join()}`;
    };
    expect(
      await failuresOf(
        withBody.filter(({ body }) => resolve(body!).properties),
        judge,
      ),
    ).toEqual([]);
  });

  it('is 422 with an error for each unknown field if the request is strict, also in a rehearsal, which else warns', async () => {
    const { resolve } = client.document;
    const judge: Judge = async (one, row, asked) => {
      const least = asked.body ?? {};
      const { body, fields } = resolve(one.body!).properties
        ? withUnknownFields(one.body!, row.full?.(least) ?? least, resolve)
        : { body: { x_nobody_knows: 1 }, fields: ['x_nobody_knows'] };
      const send = (query: Record<string, string>) =>
        client.ask(one, { ...asked, body, query: { ...asked.query, ...query } });
      const refusal = async (query: Record<string, string>) => {
        const answer = await send(query);
        const details: any[] = answer.body?.error?.details ?? [];
        const named = details.filter(({ code }) => code === 'unknown_field').map(({ field }) => field);
        return (
          unless(answer, 422, 'validation_failed', JSON.stringify(query)) ??
          (JSON.stringify(named.sort()) === JSON.stringify(fields) ? undefined : `refused ${named.join()}`)
        );
      };
      if (!one.hasRehearsal) return refusal({ strict: 'true' });
      const rehearsed = await send({ validate_only: 'true' });
      const told = (rehearsed.body?.warnings ?? []).map(({ field }: any) => field);
      return [
        await refusal({ strict: 'true' }),
        await refusal({ strict: 'true', validate_only: 'true' }),
        JSON.stringify(told) === JSON.stringify(fields) ? undefined : `the rehearsal warned of ${told.join()}`,
      ];
    };
    expect(await failuresOf(withBody, judge)).toEqual([]);
  });

  it('is checked against every bound of its schema: the last value within it is no error, and the first one beyond it is a 422 that names the field', async () => {
    const judge: Judge = async (one, row, asked) => {
      const { allowed, refused } = limits(one.body!, asked.body ?? {}, client.document.resolve);
      const failures: (string | undefined)[] = [];
      for (const variation of refused) {
        const answer = await client.ask(one, { ...asked, body: variation.body });
        failures.push(
          unless(answer, 422, 'validation_failed', variation.what) ??
            (names(answer, variation) ? undefined : `${variation.what}: ${answer.text}`),
        );
      }
      for (const variation of allowed) {
        const answer = await client.ask(one, { ...asked, body: variation.body });
        if (names(answer, variation) && !row.related?.includes(variation.field))
          failures.push(`${variation.what} is refused: ${answer.text}`);
      }
      return failures;
    };
    expect(await failuresOf(withBody, judge)).toEqual([]);
  });
});

describe('Idempotency-Key', () => {
  it('has 1 to 128 visible ASCII characters', async () => {
    const bad = ['a'.repeat(129), 'two words', 'é', '"unclosed', ''];
    const judge: Judge = async (one, row, asked) => {
      const withKey = (sent: OutgoingRequest, key: string): OutgoingRequest => ({
        ...sent,
        headers: { ...sent.headers, 'idempotency-key': key },
      });
      const refused = await Promise.all(
        bad.map(async (key) =>
          unless(
            await client.ask(one, withKey(asked, key)),
            400,
            'idempotency_key_invalid',
            JSON.stringify(key).slice(0, 14),
          ),
        ),
      );
      return [
        ...refused,
        unless(
          await client.ask(one, withKey(asked, 'k'.repeat(128))),
          row.status,
          undefined,
          'a key of 128 characters',
        ),
      ];
    };
    expect(
      await failuresOf(
        operations.filter((one) => one.isIdempotent),
        judge,
      ),
    ).toEqual([]);
  });
});

describe('validate_only', () => {
  it('runs every check and writes nothing, on operations that offer it', async () => {
    const judge: Judge = async (one, _row, asked) => {
      const before = await everyRow(api, []);
      const rehearsed = await client.ask(one, { ...asked, query: { ...asked.query, validate_only: 'true' } });
      const after = await everyRow(api, []);
      const written = Object.keys(after).filter((table) => after[table] !== before[table]);
      const mistyped = await client.ask(one, { ...asked, query: { validate_only: 'yes' } });
      const isRehearsal = rehearsed.body?.valid === true && typeof rehearsed.body.would === 'string';
      return [
        unless(rehearsed, 200, undefined, 'validate_only=true') ?? (isRehearsal ? undefined : rehearsed.text),
        written.length === 0 ? undefined : `wrote ${written.join(', ')}`,
        unless(mistyped, 400, 'invalid_parameter', 'validate_only=yes'),
      ];
    };
    expect(
      await failuresOf(
        operations.filter((one) => one.hasRehearsal),
        judge,
      ),
    ).toEqual([]);
  });

  it('is refused by every other mutation, so that no client mistakes the call for a rehearsal', async () => {
    const judge: Judge = async (one, _row, asked) =>
      unless(
        await client.ask(one, { ...asked, query: { ...asked.query, validate_only: 'true' } }),
        400,
        'invalid_parameter',
        'refused',
      );
    expect(
      await failuresOf(
        operations.filter((one) => one.method !== 'GET' && !one.hasRehearsal),
        judge,
      ),
    ).toEqual([]);
  });
});

describe('a query', () => {
  it('limits the page of every list, and accepts only its own cursors', async () => {
    const judge: Judge = (one, row, asked) => limitFaults(client, one, row, asked);
    expect(
      await failuresOf(
        operations.filter((one) => one.isPaged),
        judge,
      ),
    ).toEqual([]);
  });

  it('chooses rows by their time and state, in both orders, in every list that offers it', async () => {
    const tried: string[] = [];
    const judge: Judge = async (one, _row, asked) => {
      const { faults, isByTime } = await filterFaults(client, one, asked);
      if (isByTime) tried.push(one.operationId);
      return faults;
    };
    const lists = operations.filter((one) => one.isPaged);
    expect(await failuresOf(lists, judge)).toEqual([]);
    // Some have no rows, because the valid request of their row creates none.
    expect(tried.length).toBeGreaterThan(5);
  });

  it('is refused if a parameter does not match its schema', async () => {
    const judge: Judge = (one, _row, asked) => parameterFaults(client, one, asked);
    expect(await failuresOf(operations, judge)).toEqual([]);
  });
});

// Last, because it makes the rows of other tests large.
describe('a page', () => {
  it('is bounded by bytes in every list, and its cursors still lead to every row once', async () => {
    const lists = operations.filter((one) => one.isPaged);
    const ofDatabase = lists.filter(({ operationId }) => operationId !== 'listTargets');
    expect(ofDatabase.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(FILLS).sort());
    const judge: Judge = async (one, row, asked) => {
      const maker = operations.find(({ operationId }) => operationId === MAKERS[one.operationId]);
      if (maker) await client.ask(maker, await ROWS[maker.operationId]!.valid(bed));
      return largePageFault(client, one, row, asked);
    };
    expect(await failuresOf(ofDatabase, judge)).toEqual([]);
  });
});
