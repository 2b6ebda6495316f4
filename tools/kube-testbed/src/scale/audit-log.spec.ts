import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { AuditLog, countsOf, isWrite } from './audit-log.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-audit-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const line = (stage: string, verb: string, resource: string, second: number, subresource?: string) =>
  JSON.stringify({
    stage,
    verb,
    user: { username: 'system:serviceaccount:models:worker-1' },
    objectRef: { resource, subresource },
    responseStatus: { code: 201 },
    stageTimestamp: `2026-01-01T00:00:0${second}.000000Z`,
  });

it('counts each call once, a watch when it is accepted, and separates writes from reads', () => {
  const lines = [
    line('ResponseComplete', 'list', 'pods', 1),
    line('ResponseStarted', 'watch', 'pods', 2),
    line('ResponseComplete', 'watch', 'pods', 3),
    line('ResponseComplete', 'create', 'deployments', 3),
    line('ResponseComplete', 'create', 'selfsubjectaccessreviews', 3),
    line('ResponseComplete', 'get', 'pods', 4, 'log'),
  ];
  writeFileSync(path.join(folder, 'audit.log'), `${lines.join('\n')}\n{"stage":"Resp`);
  const log = new AuditLog(path.join(folder, 'audit.log'));
  expect(countsOf(log.since(0))).toEqual({
    'list pods': 1,
    'watch pods': 1,
    'create deployments': 1,
    'create selfsubjectaccessreviews': 1,
    'get pods/log': 1,
  });
  const late = log.since(Date.parse('2026-01-01T00:00:02Z'));
  expect(countsOf(late.filter(isWrite))).toEqual({ 'create deployments': 1 });
  expect(late[0]).toEqual({
    user: 'worker-1',
    verb: 'watch',
    resource: 'pods',
    status: 201,
    at: Date.parse('2026-01-01T00:00:02Z'),
  });
});

it('continues at the previous position, even in the middle of a line', () => {
  const file = path.join(folder, 'audit.log');
  const whole = line('ResponseComplete', 'list', 'pods', 1);
  writeFileSync(file, `${whole}\n${whole.slice(0, 20)}`);
  const log = new AuditLog(file);
  expect(countsOf(log.since(0))).toEqual({ 'list pods': 1 });
  expect(countsOf(log.since(0))).toEqual({ 'list pods': 1 });
  appendFileSync(file, `${whole.slice(20)}\n${line('ResponseComplete', 'create', 'deployments', 2)}\n`);
  expect(countsOf(log.since(0))).toEqual({ 'list pods': 2, 'create deployments': 1 });
});
