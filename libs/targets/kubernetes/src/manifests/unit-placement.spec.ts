import { describe, expect, it } from '@jest/globals';
import {
  deploymentOf,
  engineWith,
  groupOf,
  problemsOf,
  readTarget,
  specOf,
  WRITER,
} from '../../test/target-fixture.js';
import type { PodSpec } from '../api/objects.js';

const own = specOf({ runtime: { engine: 'e', args: {}, env: {} }, resources: {} });
const podOf = (keys: Record<string, unknown> = {}) =>
  deploymentOf(own, readTarget(engineWith(keys)), WRITER).spec!.template!.spec;
const revision = { 'slipway.dev/installation': WRITER.installation, 'slipway.dev/revision': own.owner!.revisionId };
const constraintsOf = (pod: PodSpec) => pod['topologySpreadConstraints'] as any[];

describe('the pods of a revision', () => {
  it('prefer different nodes and zones by default', () => {
    const pod = podOf();
    expect(constraintsOf(pod)).toEqual([
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        labelSelector: { matchLabels: revision },
        nodeTaintsPolicy: 'Honor',
        whenUnsatisfiable: 'ScheduleAnyway',
      },
    ]);
    const { podAntiAffinity } = pod['affinity'] as any;
    const terms = podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution as any[];
    expect(terms.map(({ podAffinityTerm }) => podAffinityTerm.topologyKey)).toEqual([
      'kubernetes.io/hostname',
      'topology.kubernetes.io/zone',
    ]);
    for (const { podAffinityTerm } of terms) expect(podAffinityTerm.labelSelector).toEqual({ matchLabels: revision });
    expect(podOf({ spread: 'soft' })).toEqual(pod);
  });

  it('wait for a node with the fewest of them if they must, and need no zones for that', () => {
    const [constraint, ...others] = constraintsOf(podOf({ spread: 'hard' }));
    expect(constraint).toMatchObject({ topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'DoNotSchedule' });
    expect(others).toEqual([]);
  });

  it('prefer nodes of other pods of the target if they are to be packed', () => {
    const pod = podOf({ spread: 'pack' });
    expect(pod).not.toHaveProperty('topologySpreadConstraints');
    expect(JSON.stringify(pod['affinity'])).not.toContain('AntiAffinity');
    expect(JSON.stringify(pod['affinity'])).toContain('"slipway.dev/target":"k"');
  });

  it('have lists of the operator instead of ours, and keep ours next to other kinds of affinity', () => {
    const theirs = [{ maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' }];
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } };
    const pod = podOf({ pod: { spec: { topologySpreadConstraints: theirs, affinity } } });
    expect(constraintsOf(pod)).toEqual(theirs);
    expect(pod['affinity']).toMatchObject({ ...affinity, podAntiAffinity: expect.anything() });
    const none = podOf({ pod: { spec: { topologySpreadConstraints: null, affinity: null } } });
    expect(Object.keys(none)).not.toEqual(expect.arrayContaining(['topologySpreadConstraints']));
    expect(Object.keys(none)).not.toEqual(expect.arrayContaining(['affinity']));
  });
});

it('the leaders of groups are spread, and their workers are left alone', () => {
  const spec = specOf({ runtime: { engine: 'vllm-multinode', args: {}, env: {} }, resources: { accelerator: 'h100' } });
  const { leaderTemplate, workerTemplate } = groupOf(spec, readTarget(), WRITER).spec!.leaderWorkerTemplate!;
  expect(constraintsOf(leaderTemplate!.spec)[0].labelSelector.matchLabels).toEqual({
    ...revision,
    'leaderworkerset.sigs.k8s.io/worker-index': '0',
  });
  expect(workerTemplate!.spec).not.toHaveProperty('affinity');
  expect(workerTemplate!.spec).not.toHaveProperty('topologySpreadConstraints');
});

it('a file with another word, or with two contradicting settings, is refused', () => {
  expect(problemsOf(engineWith({ spread: 'wide' })).join()).toMatch(/^engines\.e\.spread must be soft or hard or pack/);
  const pod = { spec: { topologySpreadConstraints: [] } };
  expect(problemsOf(engineWith({ spread: 'hard', pod }))).toEqual([
    'engines.e.spread must not be hard in addition to pod.spec.topologySpreadConstraints, which replaces its constraint',
  ]);
});
