import { expect, it } from '@jest/globals';
import { OperatorConfigError, parseOperatorConfig } from '@slipway/platform-config';
import { endpointTarget } from './endpoint-target.js';

const read = (allow: string) => parseOperatorConfig(`targets: [{name: a, kind: endpoint${allow}}]`, [endpointTarget]);

it('reads the addresses that servers may have; a target has no limit unless the file names one', () => {
  const allow = ['http://127.0.0.1:*', 'https://*.inference.example.com'];
  expect(read(`, allow: ${JSON.stringify(allow)}`).targets).toEqual([{ name: 'a', kind: 'endpoint', allow }]);
});

it.each([
  [', allow: ["http://h/path"]', 'targets[0].allow[0] must be an origin'],
  [', allow: ["https://*"]', 'targets[0].allow[0] may use * only before a domain'],
  [', allow: [7]', 'targets[0].allow[0] must be a non-empty string'],
  ['', 'targets[0].allow must be a list'],
])('refuses the target %s', (allow, problem) => {
  expect(() => read(allow)).toThrow(OperatorConfigError);
  expect(() => read(allow)).toThrow(problem);
});
