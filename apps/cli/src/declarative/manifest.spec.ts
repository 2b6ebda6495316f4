import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { manifestsOf } from './manifest.js';

const ofText = (text: string) => manifestsOf([{ file: 'f.yaml', text }]);

it('the committed schema equals the schema that the api of this version makes', () => {
  execFileSync(process.execPath, [path.join(import.meta.dirname, 'make-schema.mjs'), '--check'], { stdio: 'pipe' });
});

it('accepts everything that a deployment can contain, in several documents', async () => {
  const { placed, faults } = await ofText(`
deployment: { name: chat, scaling: null, labels: { a: null }, protection: { deletion: true } }
spec: { model: { id: m, uri: null }, runtime: { target: t, env: { KEY: { secret_ref: s } }, args: { n: 1 } } }
strategy: { type: canary, steps: [{ traffic_percent: 5 }, { traffic_percent: 100 }] }
gates: { metrics: [{ name: ttft_ms, check: regression, max_regression_percent: 20 }] }
route: { revision: self }
policy: { mode: observe, reliability: { freeze_windows: [{ start: 2026-01-01T00:00:00Z, end: 2026-01-02T00:00:00Z }] } }
---
deployment: { name: other }
strategy: null
---
`);
  expect([faults, placed.map(({ where }) => where)]).toEqual([[], ['f.yaml:2', 'f.yaml:9']]);
  expect(placed[0]?.manifest.policy?.reliability?.freeze_windows?.[0]?.start).toBe('2026-01-01T00:00:00Z');
});

it.each([
  [
    'a field that there is not',
    'deployment: {name: a, lables: {}}',
    'deployment must NOT have additional properties: lables',
  ],
  [
    'a field within a spec',
    'deployment: {name: a}\nspec: {model: {id: m, url: x}, runtime: {target: t}}',
    'spec.model must NOT have additional properties: url',
  ],
  ['no name', 'deployment: {}', "deployment must have required property 'name'"],
  [
    'another type',
    'deployment: {name: a, revision_history_limit: many}',
    'deployment.revision_history_limit must be integer',
  ],
  [
    'a value that there is not',
    'deployment: {name: a}\nstrategy: {type: canry}',
    'strategy.type must be equal to one of the allowed values: candidate,',
  ],
  [
    'a label without a key',
    'deployment: {name: a, labels: {"": b}}',
    'deployment.labels the key "" must NOT have fewer than 1 characters',
  ],
  ['what cannot be taken away', 'deployment: {name: a, labels: null}', 'deployment.labels must be object'],
  [
    'two ways to say the route',
    'deployment: {name: a}\nroute: {revision: self, targets: [{revision: self, weight: 100}]}',
    'route sets both revision and targets',
  ],
  ['a deployment twice', 'deployment: {name: a}\n---\ndeployment: {name: a}', 'a is already defined at f.yaml:1'],
  ['no YAML', 'deployment: {name: [}', 'f.yaml:1: '],
])('refuses %s, and reports the position', async (_what, text, fault) => {
  const { faults } = await ofText(text);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(/^f\.yaml:\d+: /);
  expect(faults[0]).toContain(fault);
});

it('does not expand a bomb of aliases', async () => {
  const levels = Array.from({ length: 12 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`);
  await expect(ofText(`a0: &a0 [x]\n${levels.join('\n')}\n`)).rejects.toThrow('f.yaml cannot be read');
});
