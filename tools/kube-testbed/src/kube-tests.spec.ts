import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { kubeItFor } from './kube-tests.js';
import { BIN_VARIABLE, REQUIRE_VARIABLE } from './test-plane.js';

const bin = mkdtempSync(path.join(os.tmpdir(), 'slipway-test-bin-'));
for (const name of ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'])
  writeFileSync(path.join(bin, name), '');
afterAll(() => rmSync(bin, { recursive: true }));

function declare(env: NodeJS.ProcessEnv, ...more: string[]): { done: string; run: () => unknown } {
  const seen: { done: string; run: () => unknown }[] = [];
  const note = (done: string) => (name: string, run: () => unknown) => void seen.push({ done: `${done} ${name}`, run });
  kubeItFor(env, { run: note('run'), skip: note('skip') }, more)('a test', () => 'ran');
  return seen[0] as { done: string; run: () => unknown };
}

it('runs if the programs are installed, and is skipped by name otherwise', () => {
  const here = declare({ [BIN_VARIABLE]: bin, [REQUIRE_VARIABLE]: '1' });
  expect([here.done, here.run()]).toEqual(['run a test', 'ran']);
  expect(declare({}).done).toBe('skip a test');
  expect(declare({ [BIN_VARIABLE]: '/nowhere' }).done).toBe('skip a test');
  expect(declare({ [BIN_VARIABLE]: bin }, 'etcd').done).toBe('run a test');
  expect(declare({ [BIN_VARIABLE]: bin }, 'etcd', 'lws').done).toBe('skip a test');
});

it('fails if the programs are required', () => {
  const { done, run } = declare({ [REQUIRE_VARIABLE]: '1' });
  expect(done).toBe('run a test');
  expect(run).toThrow('SLIPWAY_REQUIRE_KUBE=1, but SLIPWAY_KUBE_BIN is not set');
});
