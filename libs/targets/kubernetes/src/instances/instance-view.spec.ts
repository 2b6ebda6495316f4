import { expect, it } from '@jest/globals';
import { pod, ready } from '../../test/pod-rows.js';
import type { Pod } from '../api/objects.js';
import { viewInstance } from './instance-view.js';

const labels = { 'slipway.dev/generation': '1' };
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'slw-chat-1', uid: 'r1', controller: true };
const told = (metadata: Partial<Pod['metadata']>) =>
  viewInstance({ generation: 1 }, { units: [], pods: [pod({ conditions: ready }, { labels, ...metadata })] })
    .observation;

it.each([
  [{ ownerReferences: [owner] }, 'kubectl -n models delete replicaset slw-chat-1'],
  [{}, 'kubectl -n models delete pod pod-1'],
])('a pod without its unit delays the next start, and the message says how to end it', (metadata, command) => {
  expect(told(metadata)).toMatchObject({
    state: 'stopping',
    message: expect.stringMatching(new RegExp(`: ${command}$`)),
  });
});

it('a pod that is being deleted needs no action', () => {
  const { message } = told({ ownerReferences: [owner], deletionTimestamp: '2026-03-01T10:07:00Z' });
  expect(message).toBe('pod pod-1 of an older generation still exists');
});
