import type { ContainerState, KubeEvent, LeaderWorkerSet, Pod, PodStatus } from '../src/api/objects.js';
import { engineConfig, INSTALLATION, instanceSpec, targetConfig } from './driver-bench.js';
import { condition, engine, LATER, ready, running, scheduled } from './pod-rows.js';
import { groupOf } from './target-fixture.js';

export const SIZE = 3;
export const GROUP_ENGINE = engineConfig({ unit: { kind: 'leaderworkerset', size: SIZE }, worker_command: ['work'] });
export const groupTarget = targetConfig({ engines: { sim: engineConfig(), group: GROUP_ENGINE } });
export const groupSpec = instanceSpec({ runtime: { engine: 'group', args: {}, env: {} } });

/** A group, as an API server returns it. */
export const group = (overrides: Partial<LeaderWorkerSet> = {}): LeaderWorkerSet => {
  const { metadata, ...rest } = groupOf(groupSpec, groupTarget, { installation: INSTALLATION });
  const made = { ...metadata, uid: 'u1', generation: 1, creationTimestamp: '2026-03-01T10:00:00Z' };
  return { ...rest, metadata: made, ...overrides };
};

/** One of its pods, as controllers and kubelets leave it; index 0 leads. */
export function member(index: number, status: PodStatus, more: Partial<Pod['metadata']> = {}): Pod {
  const { metadata, spec } = group();
  const { leaderTemplate, workerTemplate } = spec!.leaderWorkerTemplate!;
  const template = (index === 0 ? leaderTemplate : workerTemplate)!;
  return {
    metadata: {
      ...template.metadata,
      name: `${metadata.name}-0${index === 0 ? '' : `-${index}`}`,
      namespace: metadata.namespace,
      uid: `p${index}`,
      creationTimestamp: '2026-03-01T10:00:00Z',
      ...more,
      labels: { ...template.metadata?.labels, 'leaderworkerset.sigs.k8s.io/worker-index': String(index) },
    },
    spec: { ...template.spec, nodeName: `node-${index}` },
    status: { phase: 'Running', podIP: `10.1.2.${index + 1}`, ...status },
  };
}

const unready = [scheduled, condition('ContainersReady', 'False'), condition('Ready', 'False')];
export const UP: PodStatus = { conditions: ready, ...engine({ ready: true, started: true, state: running }) };
export const LOADING: PodStatus = { conditions: unready, ...engine({ started: false, state: running }) };
export const exit: ContainerState = { terminated: { exitCode: 3, reason: 'Error', finishedAt: LATER } };
export const RESTARTED: PodStatus = { conditions: unready, ...engine({ restartCount: 1, state: exit }) };
export const UNSCHEDULABLE: PodStatus = {
  phase: 'Pending',
  podIP: undefined,
  conditions: [condition('PodScheduled', 'False', { reason: 'Unschedulable', message: 'no room' })],
};
export const LEAVING = { deletionTimestamp: '2026-03-01T10:07:30Z', deletionGracePeriodSeconds: 15 };
export const disrupted = (reason: string): PodStatus => ({
  ...UP,
  conditions: [...ready, condition('DisruptionTarget', 'True', { reason, message: `because of ${reason}` })],
});

/** The event of the controller of StatefulSets about a pod that cannot be created. */
export const refusal = (message: string, more: Partial<KubeEvent> = {}): KubeEvent => {
  const { name, namespace = '' } = group().metadata;
  return {
    metadata: { name: `${name}.1`, namespace, uid: 'e1' },
    type: 'Warning',
    reason: 'FailedCreate',
    message,
    lastTimestamp: '2026-03-01T10:00:01Z',
    involvedObject: { kind: 'StatefulSet', name, namespace },
    ...more,
  };
};
