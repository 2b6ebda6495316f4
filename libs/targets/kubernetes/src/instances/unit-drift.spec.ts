import { describe, expect, it } from '@jest/globals';
import type { ForeignField } from '../api/objects.js';
import { condition, engine, LATER, pod, ready, running, unit } from '../../test/pod-rows.js';
import { driftOf, isSpecChanged, specHash } from './unit-drift.js';

const by = (manager: string, ...path: string[]): ForeignField => ({ manager, path });
const made = unit();
const changed = (spec: object, foreign: ForeignField[] = [], generation = 2) =>
  unit({ metadata: { ...made.metadata, generation, foreign }, spec: { ...made.spec, ...spec } });
const created = specHash(made);

describe('the drift of a unit', () => {
  it('names the fields and who set them', () => {
    const one = changed({ replicas: 3, paused: true }, [
      by('kubectl-scale', 'spec', 'replicas'),
      by('kubectl', 'spec', 'paused'),
    ]);
    expect(driftOf({ unit: one, pods: [] }, created)).toBe(
      `deployment ${made.metadata.name} was changed outside Slipway: it has 3 replicas (spec.paused by kubectl, spec.replicas by kubectl-scale)`,
    );
  });

  it('ends when the spec is as it was created, even if another client owns its fields then', () => {
    const back = changed({}, [by('kubectl-scale', 'spec', 'replicas')], 3);
    expect(isSpecChanged(back, created)).toBe(false);
    expect(driftOf({ unit: back, pods: [] }, created)).toBeUndefined();
    // Another process, which has not seen the unit as it was created.
    expect(driftOf({ unit: back, pods: [] })).toContain('was changed outside Slipway');
    const recorded = { ...back, metadata: { ...back.metadata, annotations: { 'slipway.dev/created-spec': created } } };
    expect(driftOf({ unit: recorded, pods: [] })).toBeUndefined();
  });

  it('includes changes of its metadata, which are no reason to replace it', () => {
    const one = changed({}, [by('kubectl-label', 'metadata', 'labels', 'team')], 1);
    expect(driftOf({ unit: one, pods: [] }, created)).toContain('(metadata.labels.team by kubectl-label)');
    expect(isSpecChanged(one, created)).toBe(false);
  });

  it('is none while it is stopped, or if it is as it was created', () => {
    expect(driftOf({ unit: made, pods: [pod({ conditions: ready })] }, created)).toBeUndefined();
    expect(driftOf({ unit: changed({ replicas: 0 }), pods: [] }, created)).toBeUndefined();
  });

  it('has a limited length, however much was changed', () => {
    const foreign = Array.from({ length: 50 }, (_, at) => by('x'.repeat(100), 'spec', `f${at}`));
    expect(driftOf({ unit: changed({}, foreign), pods: [] })!.length).toBeLessThanOrEqual(400);
  });
});

describe('the drift of a pod', () => {
  const running1 = { conditions: ready, ...engine({ state: running }) };
  const driftWith = (...of: Parameters<typeof pod>) => driftOf({ unit: made, pods: [pod(...of)] }, created);

  it.each([
    [
      by('kubectl-set', 'spec', 'containers', 'k:{"name":"engine"}', 'image'),
      'spec.containers[engine].image by kubectl-set',
    ],
    [by('kubectl', 'metadata', 'finalizers', 'v:"a/b"'), 'metadata.finalizers[a/b] by kubectl'],
  ])('names %j', (foreign, words) => {
    expect(driftWith(running1, { foreign: [foreign] })).toBe(`pod pod-1 was changed outside Slipway (${words})`);
  });

  it('names an ephemeral container', () => {
    expect(driftWith(running1, {}, { ephemeralContainers: [{ name: 'debug' }] })).toBe(
      'pod pod-1 has an ephemeral container',
    );
  });

  it('is none for annotations, which the tools of a cluster write, and for a pod that is being deleted', () => {
    expect(driftWith(running1, { foreign: [by('calico', 'metadata', 'annotations', 'a')] })).toBeUndefined();
    const foreign = [by('kubectl', 'spec', 'activeDeadlineSeconds')];
    expect(driftWith(running1, { foreign, deletionTimestamp: LATER })).toBeUndefined();
    expect(driftWith({ phase: 'Failed', conditions: [condition('Ready', 'False')] }, { foreign })).toBeUndefined();
  });

  it('has the command that removes a pod without labels', () => {
    const stray = pod(running1, { name: 'pod-2' });
    expect(driftOf({ unit: made, pods: [], strays: [stray] }, created)).toMatch(
      /^pod pod-2 lost the labels of its unit.*: kubectl -n models delete pod pod-2$/,
    );
  });
});
