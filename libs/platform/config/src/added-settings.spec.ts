import { expect, it } from '@jest/globals';
import { addedTo } from './added-settings.js';

const OURS = {
  targets: [
    {
      name: 'local',
      kind: 'process',
      max_instances: 16,
      engines: {
        sim: { command: ['sim'], args: { seed: '--seed={}', tokens: '--tokens={}' }, ready: { path: '/health' } },
      },
    },
    { name: 'adopted', kind: 'endpoint', allow: [{ origin: 'http://127.0.0.1:*', tenants: ['default'] }] },
  ],
  outbound: { suppliers: ['http://127.0.0.1:*'], sandboxes: ['http://127.0.0.1:*'] },
};
const [LOCAL, ADOPTED] = OURS.targets;
const SIM = LOCAL!.engines!.sim;

it('an empty file changes nothing', () => {
  for (const file of [{}, { targets: [] }, { targets: null, outbound: null }])
    expect(addedTo(OURS, file)).toEqual(OURS);
});

it('another target is added before the built-in ones', () => {
  const gpu = { name: 'gpu', kind: 'process', engines: {} };
  expect(addedTo(OURS, { targets: [gpu] })['targets']).toEqual([gpu, LOCAL, ADOPTED]);
});

it.each<[string, object, object]>([
  ['one number', { max_instances: 4 }, { max_instances: 4 }],
  [
    'an engine beside the simulator',
    { engines: { vllm: { command: ['v'] } } },
    { engines: { sim: SIM, vllm: { command: ['v'] } } },
  ],
  [
    'only the command of the simulator',
    { engines: { sim: { command: ['mine'] } } },
    { engines: { sim: { ...SIM, command: ['mine'] } } },
  ],
  [
    'one argument of the simulator, and another one none',
    { engines: { sim: { args: { seed: '-s={}', tokens: null } } } },
    { engines: { sim: { ...SIM, args: { seed: '-s={}' } } } },
  ],
  [
    'a part of its readiness',
    { engines: { sim: { ready: { timeout_seconds: 5 } } } },
    { engines: { sim: { ...SIM, ready: { path: '/health', timeout_seconds: 5 } } } },
  ],
  ['no simulator', { engines: { sim: null } }, { engines: {} }],
  ['for whom it is', { tenants: ['acme'] }, { tenants: ['acme'] }],
])('a file may change a built-in target: %s', (_what, change, becomes) => {
  expect(addedTo(OURS, { targets: [{ name: 'local', ...change }] })['targets']).toEqual([
    { ...LOCAL, ...becomes },
    ADOPTED,
  ]);
});

it('a list replaces the built-in list together with its tenants', () => {
  const mine = { name: 'adopted', kind: 'endpoint', allow: ['https://*.example.com'] };
  expect(addedTo(OURS, { targets: [mine] })['targets']).toEqual([mine, LOCAL]);
});

it('a target with another kind replaces the built-in target of that name', () => {
  const mine = { name: 'local', kind: 'endpoint', allow: [] };
  expect(addedTo(OURS, { targets: [mine] })['targets']).toEqual([mine, ADOPTED]);
});

it('outbound lists replace the built-in ones by purpose', () => {
  expect(addedTo(OURS, { outbound: { suppliers: [] } })['outbound']).toEqual({
    suppliers: [],
    sandboxes: ['http://127.0.0.1:*'],
  });
});

it('passes values it cannot merge to the reader, which refuses them, and keeps a key that is called __proto__', () => {
  expect(addedTo(OURS, { targets: 'x' })['targets']).toBe('x');
  expect(addedTo(OURS, { targets: [7, null] })['targets']).toEqual([7, null, LOCAL, ADOPTED]);
  const strange = JSON.parse('{"outbound": {"__proto__": {"polluted": true}}}');
  expect(Object.keys(addedTo(OURS, strange)['outbound'] as object)).toContain('__proto__');
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});
