import { expect, it } from '@jest/globals';
import type { KubeClient } from '../client.js';
import { KubeError } from '../client.js';
import type { ContainerSpec, Pod } from '../objects.js';
import { argvOf, environmentOf, expand } from './environment.js';

const pod = {
  metadata: { name: 'one', namespace: 'models', uid: 'u', labels: { 'slipway.dev/tenant': 'acme' } },
  spec: { nodeName: 'node-1', containers: [] },
} as unknown as Pod;

const secrets: Record<string, Record<string, string>> = { hf: { token: Buffer.from('hf_$(HOME)').toString('base64') } };
const client = {
  get: async (_resource: unknown, { name = '' }: { name?: string }) => {
    if (!secrets[name]) throw new KubeError(404, 'NotFound', 'not found');
    return { metadata: {}, data: secrets[name] };
  },
} as unknown as KubeClient;

const container = (over: Partial<ContainerSpec>): ContainerSpec => ({ name: 'engine', image: 'test/sim', ...over });

it.each([
  ['$(A)', '1'],
  ['x$(A)y$(A)', 'x1y1'],
  ['$$(A)', '$(A)'],
  ['$$$(A)', '$1'],
  ['$$$$(A)', '$$(A)'],
  ['$(NONE)', '$(NONE)'],
  ['$(toString)', '$(toString)'],
  ['$A ${A} $', '$A ${A} $'],
  ['$(A', '$(A'],
  ['$()', '$()'],
])('%s becomes %s, as in a real kubelet', (text, wanted) => {
  expect(expand(text, { A: '1' })).toBe(wanted);
});

it('expands variables from earlier ones, and never expands values of secrets', async () => {
  const values = await environmentOf(
    client,
    pod,
    container({
      env: [
        { name: 'EARLY', value: '$(TOKEN)' },
        { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'hf', key: 'token' } } },
        { name: 'LATE', value: 'is $(TOKEN)' },
        { name: 'WHERE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
        { name: 'TENANT', valueFrom: { fieldRef: { fieldPath: "metadata.labels['slipway.dev/tenant']" } } },
        { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
        { name: 'ABSENT', valueFrom: { secretKeyRef: { name: 'none', key: 'x', optional: true } } },
      ],
    }),
    '127.77.1.2',
  );
  expect(values).toEqual({
    EARLY: '$(TOKEN)',
    TOKEN: 'hf_$(HOME)',
    LATE: 'is hf_$(HOME)',
    WHERE: 'node-1',
    TENANT: 'acme',
    IP: '127.77.1.2',
  });
  expect(argvOf(container({ command: ['run', '$(TOKEN)'], args: ['$$(TOKEN)'] }), values)).toEqual([
    'run',
    'hf_$(HOME)',
    '$(TOKEN)',
  ]);
});

it.each([
  [{ name: 'gone', key: 'token' }, 'secret "gone" not found'],
  [{ name: 'hf', key: 'key' }, "couldn't find key key in Secret models/hf"],
])('waits for the missing reference %j', async (secretKeyRef, message) => {
  const spec = container({ env: [{ name: 'TOKEN', valueFrom: { secretKeyRef } }] });
  await expect(environmentOf(client, pod, spec, '127.77.1.2')).rejects.toThrow(message);
});
