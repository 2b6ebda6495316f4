import 'reflect-metadata';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { metrics } from '@slipway/platform-observability';
import { AuditBed, TENANT } from './audit-bed.js';

interface S3Server {
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
}

// The package is CommonJS without types.
const S3rver = createRequire(import.meta.url)('s3rver') as new (options: object) => S3Server;

let bed: AuditBed;
let folder: string;
let file: string;

beforeAll(async () => {
  bed = await AuditBed.start();
});
afterAll(() => bed?.stop());
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'slipway-anchor-'));
  file = path.join(folder, 'heads.jsonl');
  await grow('one');
});
afterEach(async () => {
  jest.restoreAllMocks();
  await bed.empty();
  rmSync(folder, { recursive: true, force: true });
});

async function grow(...names: string[]): Promise<string> {
  await bed.append(...names);
  await bed.sealer()();
  const { sequence, hash } = await bed.head();
  return `${TENANT}:${sequence}:${hash}`;
}

const lines = () =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const kept = (): string[] => lines().map((line) => line.audit_anchor);
const loggedErrors = () => jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);

it('each head is kept once, at least a minute apart, and only after a change', async () => {
  const anchor = bed.anchoring(`file:${file}`);
  await anchor();
  const first = kept();
  const second = await grow('two');
  await anchor();
  expect(kept()).toEqual(first);
  await bed.aMinutePasses();
  await anchor();
  expect(kept()).toEqual([...first, second]);
  await bed.aMinutePasses();
  await anchor();
  expect(kept()).toHaveLength(2);
  expect(lines()[1]).toEqual({ at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/), audit_anchor: second });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('new anchors are appended to those from before a restart', async () => {
  await bed.anchoring(`file:${file}`)();
  const [first] = kept();
  const second = await grow('two');
  await bed.aMinutePasses();
  await bed.anchoring(`file:${file}`)();
  expect(kept()).toEqual([first, second]);
});

it('concurrent workers keep each head once', async () => {
  const workers = Array.from({ length: 5 }, () => bed.anchoring(`file:${file}`));
  await Promise.all(workers.map((work) => work()));
  expect(kept()).toHaveLength(1);
  const second = await grow('two');
  await bed.aMinutePasses();
  await Promise.all(workers.map((work) => work()));
  expect(kept().slice(1)).toEqual([second]);
});

it('an anchor that cannot be written to is reported, stops no sealing, and is retried', async () => {
  const error = loggedErrors();
  const failures = async () =>
    (await metrics.getSingleMetric('slipway_audit_anchor_failures_total')!.get()).values[0]!.value;
  const before = await failures();
  const away = `${folder}/away/heads.jsonl`;
  await bed.anchoring(`file:${away}`)();
  expect(error).toHaveBeenCalledWith(
    expect.stringMatching(/^Could not store the heads of 1 audit chains in file:.*ENOENT/),
  );
  expect((await failures()) - before).toBe(1);
  const head = await grow('two');
  await bed.aMinutePasses();
  await bed.anchoring(`file:${file}`)();
  expect(kept()).toEqual([head]);
});

it('a worker that dies after the line and before its note costs a second line, never a lost one', async () => {
  await bed.anchoring(`file:${file}`)();
  await bed.owner.query(`update audit_anchors set sequence = 0, hash = null`);
  await bed.aMinutePasses();
  await bed.anchoring(`file:${file}`)();
  expect(new Set(kept()).size).toBe(1);
  expect(kept()).toHaveLength(2);
});

it('a time that no worker can have written does not stop the anchors', async () => {
  const anchor = bed.anchoring(`file:${file}`);
  await anchor();
  for (const due of ["'infinity'", "now() + interval '1 year'"]) {
    const head = await grow('more');
    await bed.owner.query(`update audit_anchors set due_at = ${due}`);
    await anchor();
    expect(kept().at(-1)).toBe(head);
  }
});

it('a chain that was set back is reported, and its new head is kept in addition to the old one', async () => {
  const error = loggedErrors();
  await grow('two', 'three');
  await bed.anchoring(`file:${file}`)();
  await bed.owner.query(`delete from audit_log where sequence > 1`);
  await bed.rehash();
  await bed.aMinutePasses();
  await bed.anchoring(`file:${file}`)();
  expect(error).toHaveBeenCalledWith(
    expect.stringContaining(
      `The audit chain of ${TENANT} was cut or rewritten: its head was at row 3 and is now at row 1`,
    ),
  );
  expect(kept().map((head) => head.split(':')[1])).toEqual(['3', '1']);
});

it('the log takes anchors at info, and reports at once if its level drops them', async () => {
  const log = jest.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  await bed.anchoring('log')();
  const { hash } = await bed.head();
  expect(log).toHaveBeenCalledWith('audit head', { audit_anchor: `${TENANT}:1:${hash}` });
  expect(warn).not.toHaveBeenCalled();
  await grow('two');
  await bed.aMinutePasses();
  await bed.anchoring('log', { logLevel: 'warn' })();
  expect(warn).toHaveBeenCalledWith(expect.stringContaining('SLIPWAY_LOG_LEVEL=warn suppresses'));
});

it('a bucket gets a new object each time, named in the order of time', async () => {
  const error = loggedErrors();
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder,
    configureBuckets: [{ name: 'anchors' }],
  });
  const { port } = await server.run();
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' });
  const s3 = { endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1' };
  const anchor = bed.anchoring('s3://anchors/audit/prod', { upload: { ...bed.config.upload, s3 } });
  try {
    await anchor();
    await grow('two');
    await bed.aMinutePasses();
    await anchor();
  } finally {
    await server.close();
  }
  expect(error).not.toHaveBeenCalled();
  const at = path.join(folder, 'anchors/audit/prod');
  const objects = readdirSync(at)
    .filter((name) => name.endsWith('_object'))
    .sort();
  expect(
    objects.map((name) => JSON.parse(readFileSync(path.join(at, name), 'utf8')).audit_anchor.split(':')[1]),
  ).toEqual(['1', '2']);
  await grow('three');
  await bed.aMinutePasses();
  await anchor();
  expect(error).toHaveBeenCalledWith(
    expect.stringContaining('Could not store the heads of 1 audit chains in s3://anchors/audit/prod'),
  );
});
