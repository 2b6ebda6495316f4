import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { operationsOf, type Operation } from '@slipway/platform-http';
import { activateNewest, Bed, owned } from '@slipway/platform-testing/contract';
import { ROWS } from './rows.js';
import { bootApi, type Answer, type TestApi } from '../harness/boot-api.js';

/** The texts at /docs for new users, and examples that do what they show. */
let api: TestApi;
let document: any;
let operations: { path: string; method: string; operation: Operation }[];

beforeAll(async () => {
  api = await bootApi();
  document = (await api.send('GET', '/openapi.json', { token: null })).body;
  operations = operationsOf(document);
});

afterAll(async () => {
  await api?.close();
});

const isText = (value: unknown): boolean => typeof value === 'string' && /^\S.*[.!)`]\s*$/s.test(value);

describe('the texts', () => {
  it('give the name, the effect and the area of every operation', () => {
    const silent = operations.filter(
      ({ operation: { operationId, summary, description, tags } }) =>
        !/^[a-z]\w+$/.test(operationId) || !summary || !isText(description) || (tags as unknown[]).length !== 1,
    );
    expect(silent.map(({ operation }) => operation.operationId)).toEqual([]);
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(ids).toHaveLength(new Set(ids).size);
  });

  it('explain every tag and every parameter', () => {
    expect(document.tags.filter((tag: any) => !isText(tag.description))).toEqual([]);
    const silent = operations.flatMap(({ operation: { operationId, parameters = [] } }) =>
      parameters.filter(({ description }) => !description).map(({ name }) => `${operationId} ${name}`),
    );
    expect(silent).toEqual([]);
  });

  it('explain at the top how to sign in, retry, rehearse, read errors, page and follow events', () => {
    const { description } = document.info;
    for (const word of [
      'Authorization: Bearer',
      'Idempotency-Key',
      'validate_only=true',
      'strict=true',
      '`code`',
      'next_cursor',
      'text/event-stream',
      'If-Match',
    ])
      expect(description).toContain(word);
    expect(description.trim().split('\n').length).toBeLessThanOrEqual(18);
  });

  it('give every code of an error its meaning and its remedy', () => {
    const named = operations.flatMap(({ operation }) =>
      Object.values(operation.responses).flatMap((response: any) => response['x-error-codes'] ?? []),
    );
    const codes = document['x-errors'];
    expect([...new Set(named)].filter((code) => !(code in codes))).toEqual([]);
    const silent = Object.entries<any>(codes).filter(
      ([, { message, remediation }]) => !isText(message) || !isText(remediation),
    );
    expect(silent.map(([code]) => code)).toEqual([]);
    const { enum: failures } = document.components.schemas.OperationDto.properties.error_code;
    expect(Object.keys(document['x-failures'])).toEqual(failures);
    const unexplained = Object.entries<any>(document['x-failures']).filter(
      ([, row]) => !row.description || !row.remedy,
    );
    expect(unexplained.map(([code]) => code)).toEqual([]);
  });

  it('of the committed document, which docs/errors.md is made from, equal the texts that the api serves', () => {
    const committed = JSON.parse(readFileSync(new URL('../../../../libs/sdk/openapi.json', import.meta.url), 'utf8'));
    // Additions may be committed later.
    for (const list of ['x-errors', 'x-failures']) expect(document[list]).toMatchObject(committed[list]);
  });
});

it('lists the error envelope as the default answer of every operation', () => {
  expect(operations.length).toBeGreaterThan(50);
  for (const { operation } of operations)
    expect([operation.operationId, operation.responses['default']]).toEqual([
      operation.operationId,
      {
        description: expect.any(String),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorEnvelopeDto' } } },
      },
    ]);
});

/** A new user creates before reading, and deletes last; operations that need a deployment come after its creation. */
const CREATED_FIRST = ['createDeployment', 'createRollout', 'setContinualOptimizationPolicy'];

function rankOf({ method, operation: { operationId } }: { method: string; operation: Operation }): number {
  const rank = CREATED_FIRST.indexOf(operationId);
  if (rank >= 0) return rank;
  return 10 + ['post', 'put', 'patch', 'get', 'delete'].indexOf(method);
}

/** The request that the view sends if a person presses Execute without a change: examples, or else defaults. */
function executed({
  path,
  method,
  operation,
}: {
  path: string;
  method: string;
  operation: Operation;
}): Promise<Answer> {
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  let url = path;
  for (const { name, in: where, example, schema } of operation.parameters ?? []) {
    const value = example ?? schema?.['example'] ?? schema?.['default'];
    if (where === 'path') url = url.replace(`{${name}}`, encodeURIComponent(String(value)));
    else if (value !== undefined && where === 'query') query.set(name, String(value));
    else if (value !== undefined) headers[name] = String(value);
  }
  const body = operation.requestBody?.content['application/json']?.example;
  return api.send(method.toUpperCase(), query.size === 0 ? url : `${url}?${query}`, { headers, body });
}

it('Execute works: the api accepts every unchanged example, and does what it says if a fresh stack can', async () => {
  const withoutExample = operations.filter(
    ({ operation: { requestBody, parameters = [] } }) =>
      (requestBody && requestBody.content['application/json']?.example === undefined) ||
      parameters.some((one) => one.in === 'path' && one.example === undefined),
  );
  expect(withoutExample.map(({ operation }) => operation.operationId)).toEqual([]);

  const surprises: string[] = [];
  let deploymentId = '';
  for (const one of [...operations].sort((left, right) => rankOf(left) - rankOf(right))) {
    const { operationId } = one.operation;
    const answer = await executed(one);
    if (operationId === 'createDeployment') deploymentId = answer.body.id;
    // By the time that a person has read the answer, a worker would have done this.
    if (operationId === 'createRollout' || operationId === 'restartDeployment') {
      const revisionId = await activateNewest(api, deploymentId);
      await owned(api, 'delete from traffic_owner where deployment_id = $1', [deploymentId]);
      if (operationId === 'createRollout') await new Bed(api).instance({ id: deploymentId, revisionId });
    }
    const expected = ROWS[operationId]?.example?.status ?? (one.path.includes('{id}') ? 404 : undefined);
    const isExpected = expected === undefined ? answer.status < 300 : answer.status === expected;
    const hasWarning = answer.body?.warnings !== undefined;
    if (!isExpected || hasWarning)
      surprises.push(`${operationId}: ${answer.status} instead of ${expected ?? '2xx'}: ${answer.text.slice(0, 300)}`);
  }
  expect(surprises).toEqual([]);
});

it('no example fills in a filter or condition, so that a first list is unfiltered', () => {
  const filled = operations.flatMap(({ operation: { operationId, parameters = [] } }) =>
    parameters
      .filter((one) => one.in !== 'path' && (one.example !== undefined || one.schema?.['example'] !== undefined))
      .map(({ name }) => `${operationId} ${name}`),
  );
  expect(filled).toEqual([]);
});
