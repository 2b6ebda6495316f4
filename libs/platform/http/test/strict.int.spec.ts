import 'reflect-metadata';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SlipwayHttpAdapter } from '../src/index.js';
import { SampleModule } from './sample.controller.js';

let app: NestFastifyApplication;

beforeAll(async () => {
  const adapter = new SlipwayHttpAdapter();
  adapter.setGuard(async ({ slipway }) => {
    slipway.tenantId = 't1';
  });
  app = await NestFactory.create<NestFastifyApplication>(SampleModule, adapter, { logger: false });
  await app.init();
});

afterAll(async () => {
  await app?.close();
});

async function send(method: 'GET' | 'PUT' | 'POST', path: string, body?: object, headers = {}) {
  const answer = await app.inject({ method, url: `/api/v1/samples${path}`, payload: body, headers });
  return { status: answer.statusCode, body: answer.json() };
}
type Answer = Awaited<ReturnType<typeof send>>;

const put = (body: object, query = '?strict=true', name = 'x') => send('PUT', `/${name}${query}`, body);
const codeOf = ({ status, body }: Answer) => `${status} ${body.error?.code ?? ''}`;
const issuesOf = ({ body }: Answer): string[] =>
  body.error.details.map(({ field, code, message }: any) => `${field} ${code}: ${message}`);

it('refuses the unknown fields of a strict request in any depth, and names near ones', async () => {
  const answer = await put({ name: 'abc', flags: true, parts: [{ name: 'a', weight: 1, more: {} }] });
  expect(codeOf(answer)).toBe('422 validation_failed');
  expect(issuesOf(answer)).toEqual([
    'parts[0].more unknown_field: parts[0].more is not a known field',
    'flags unknown_field: flags is not a known field; did you mean `flag`?',
  ]);
  expect(answer.body.error.message).toBe('parts[0].more is not a known field');
});

it('judges a rehearsal like the request, and shows the warnings of one that is not strict', async () => {
  const body = { name: 'abc', extra: 1 };
  expect(codeOf(await put(body, '?validate_only=true&strict=true'))).toBe('422 validation_failed');
  const rehearsed = await put(body, '?validate_only=true');
  expect(rehearsed).toMatchObject({
    status: 200,
    body: { dryRun: true, warnings: [{ code: 'unknown_field', field: 'extra' }] },
  });
});

it('reports all faults at once; a mistyped field is 400, and an unknown resource takes precedence', async () => {
  expect(issuesOf(await put({ name: 'ABC', extra: 1 })).map((text) => text.split(':')[0])).toEqual([
    'name pattern',
    'extra unknown_field',
  ]);
  const mistyped = await put({ name: 1, extra: 1 });
  expect(codeOf(mistyped)).toBe('400 invalid_parameter');
  expect(issuesOf(mistyped)).toHaveLength(2);
  expect(codeOf(await put({ name: 'abc', extra: 1 }, '?strict=true', 'missing'))).toBe('404 sample_not_found');
});

it('accepts a strict request without unknown fields; free JSON and maps have none', async () => {
  expect(codeOf(await put({ name: 'abc', free: { anything: 1 }, labels: { a: 'b' } }))).toBe('200 ');
  expect((await put({ name: 'abc', extra: 1 }, '?strict=false')).body.warnings).toHaveLength(1);
});

it('refuses every field if the operation reads no body', async () => {
  expect(issuesOf(await send('POST', '/x/touch?strict=true', { reason: 'why' }))).toEqual([
    'reason unknown_field: reason is not a known field',
  ]);
  expect(codeOf(await send('POST', '/x/touch?strict=true', {}))).toBe('200 ');
  expect(codeOf(await send('POST', '/x/touch?strict=true'))).toBe('200 ');
  expect(codeOf(await send('POST', '/x/touch', { reason: 'why' }))).toBe('200 ');
});

it('accepts only true and false, on reads too', async () => {
  for (const query of ['?strict=yes', '?strict=', '?strict=true&strict=true'])
    expect(codeOf(await put({ name: 'abc' }, query))).toBe('400 invalid_parameter');
  expect(codeOf(await send('GET', '?strict=yes'))).toBe('400 invalid_parameter');
  expect(codeOf(await send('GET', '?strict=true'))).toBe('200 ');
});

it('gives a strict request, a rehearsal and the plain request one fingerprint, because they ask for one change', async () => {
  const fingerprint = async (query: string) =>
    (await send('PUT', `/x${query}`, { name: 'abc' }, { 'idempotency-key': 'k' })).body.claim.fingerprint;
  const plain = await fingerprint('');
  expect(plain).toMatch(/^[0-9a-f]{64}$/);
  expect([await fingerprint('?strict=true'), await fingerprint('?validate_only=true')]).toEqual([plain, plain]);
  expect(await fingerprint('?state=open')).not.toBe(plain);
});
