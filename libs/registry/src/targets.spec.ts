import { tmpdir } from 'node:os';
import { expect, it } from '@jest/globals';
import { loadConfig } from '@slipway/platform-config';
import { TARGETS } from './targets.js';

const env = { DATABASE_URL: 'postgres://unused', SLIPWAY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') };

it('the embedded default lets no client choose the folder of the simulator', () => {
  const [local, adopted] = loadConfig(env, tmpdir(), { targets: TARGETS }).operator.targets;
  expect([local?.kind, adopted?.kind]).toEqual(['process', 'endpoint']);
  const { sim } = (local as any).engines;
  expect(sim.command).toContain('{home}/sim-starts.log');
  expect(Object.keys(sim.args)).not.toContain('start_log');
});

it('there is one target of each kind', () => {
  expect(new Set(TARGETS.map(({ kind }) => kind)).size).toBe(TARGETS.length);
});
