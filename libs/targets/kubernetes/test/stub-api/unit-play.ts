import { randomBytes } from 'node:crypto';
import { PODS } from '../../src/api/kinds.js';
import type { Deployment, KubeObject, LeaderWorkerSet, Pod, PodStatus, PodTemplate } from '../../src/api/objects.js';
import type { StubApi, StubOptions } from './contract.js';

/** The behaviour of the simulated cluster. Times begin with the write that causes an action. */
export interface UnitPlay {
  /** Until a pod is Ready. It is Pending before. */
  readyAfterMs?: number;
  /** From the deletion to the end of the pod; at most its grace period. */
  stopAfterMs?: number;
  /** Whether pods of the unit become ready at all. */
  isReady?(unit: KubeObject): boolean;
  /** Addresses, in the order in which pods are created. Default: 127.77.0.1 and the following. */
  podIp?(pod: Pod): string;
  node?: string;
}

type Hooks = Required<Pick<StubOptions, 'onUnit' | 'onPodDeletion'>>;

const DEFAULT_MS = 20;
const OWNER = 'ReplicaSet';

/**
 * Simulates controllers, scheduler and kubelet for units: pods of their template are created, become ready and end, and
 * a deleted pod is replaced. `startStubApi({ ...playUnits() })`.
 */
export function playUnits(play: UnitPlay = {}): Hooks {
  let pods = 0;
  const addressOf = (pod: Pod): string => {
    pods += 1;
    return play.podIp?.(pod) ?? `127.77.${pods >> 8}.${pods & 255}`;
  };

  const start = (api: StubApi, unit: KubeObject, index: number, template: PodTemplate): void => {
    const { name, uid = '', namespace } = unit.metadata;
    const owner = { apiVersion: 'apps/v1', kind: OWNER, name, uid, controller: true };
    const labels = { ...template.metadata?.labels, ...(isGroup(unit) ? { [INDEX]: String(index) } : {}) };
    const podName = isGroup(unit)
      ? `${name}-0${index === 0 ? '' : `-${index}`}`
      : `${name}-${randomBytes(3).toString('hex')}`;
    const metadata = {
      ...template.metadata,
      name: podName,
      generateName: `${name}-`,
      namespace,
      labels,
      ownerReferences: [owner],
    };
    const spec = { ...template.spec, nodeName: play.node ?? 'stub-node' };
    const pod = api.store.put<Pod>(PODS, { metadata, spec, status: pendingStatus(spec) });
    const podIP = addressOf(pod);
    later(play.readyAfterMs, () => {
      const now = api.store.get<Pod>(PODS, namespace ?? '', podName);
      if (now?.metadata.uid !== pod.metadata.uid || now?.metadata.deletionTimestamp) return;
      if (play.isReady?.(unit) === false) return;
      api.store.change<Pod>(PODS, namespace ?? '', podName, (one) => void (one.status = readyStatus(spec, podIP)));
    });
  };

  const reconcile = (api: StubApi, unit: KubeObject, isDeleted: boolean): void => {
    const wanted = isDeleted ? [] : templatesOf(unit);
    const own = ownPods(api, unit);
    const staying = own.filter(({ metadata }) => !metadata.deletionTimestamp);
    for (const pod of staying.slice(wanted.length)) end(api, unit, pod);
    // A group's pods have fixed names, so that a new one waits for the old one's end.
    const free = isGroup(unit) ? own.length : staying.length;
    for (let index = free; index < wanted.length; index += 1) start(api, unit, index, wanted[index] as PodTemplate);
  };

  const end = (api: StubApi, unit: KubeObject | undefined, pod: Pod): void => {
    const { name, namespace = '', uid } = pod.metadata;
    if (!pod.metadata.deletionTimestamp)
      api.store.change<Pod>(PODS, namespace, name, ({ metadata }) => {
        metadata.deletionTimestamp = new Date().toISOString();
      });
    later(play.stopAfterMs, () => {
      if (api.store.get(PODS, namespace, name)?.metadata.uid !== uid) return;
      api.store.remove(PODS, namespace, name);
      const owner = unit && units.get(unit.metadata.uid ?? '');
      if (owner) reconcile(api, owner, false);
    });
  };

  const units = new Map<string, KubeObject>();
  return {
    onUnit: (unit, change, api) => {
      const { uid = '' } = unit.metadata;
      if (change === 'deleted') units.delete(uid);
      else units.set(uid, unit);
      reconcile(api, unit, change === 'deleted');
    },
    onPodDeletion: (pod, api) => {
      const owner = pod.metadata.ownerReferences?.find(({ kind }) => kind === OWNER);
      const unit = units.get(owner?.uid ?? '');
      end(api, unit, pod);
      // A ReplicaSet does not wait for the end of a deleted pod.
      if (unit) reconcile(api, unit, false);
    },
  };
}

const INDEX = 'leaderworkerset.sigs.k8s.io/worker-index';
const isGroup = (unit: KubeObject): boolean => unit.kind === 'LeaderWorkerSet';

/** The template of each pod that the unit wants. */
function templatesOf(unit: KubeObject): PodTemplate[] {
  if (!isGroup(unit)) {
    const { replicas = 1, template } = (unit as Deployment).spec ?? {};
    return template ? Array.from({ length: replicas }, () => template) : [];
  }
  const { replicas = 1, leaderWorkerTemplate: { size = 1, leaderTemplate, workerTemplate } = {} } =
    (unit as LeaderWorkerSet).spec ?? {};
  if (!workerTemplate || replicas === 0) return [];
  return Array.from({ length: size }, (_, index) =>
    index === 0 ? (leaderTemplate ?? workerTemplate) : workerTemplate,
  );
}

const ownPods = (api: StubApi, { metadata }: KubeObject): Pod[] =>
  api.store
    .list<Pod>(PODS, metadata.namespace)
    .filter((pod) => pod.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid));

function pendingStatus({ containers }: PodTemplate['spec']): PodStatus {
  return {
    phase: 'Pending',
    conditions: [condition('PodScheduled', true), condition('Ready', false)],
    containerStatuses: containers.map(({ name }) => ({
      name,
      ready: false,
      started: false,
      restartCount: 0,
      state: { waiting: { reason: 'ContainerCreating' } },
    })),
  };
}

function readyStatus({ containers }: PodTemplate['spec'], podIP: string): PodStatus {
  const startedAt = new Date().toISOString();
  return {
    phase: 'Running',
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: startedAt,
    conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => condition(type, true)),
    containerStatuses: containers.map(({ name }) => ({
      name,
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt } },
    })),
  };
}

const condition = (type: string, isTrue: boolean) => ({
  type,
  status: isTrue ? 'True' : 'False',
  lastTransitionTime: new Date().toISOString(),
});

/** Not at once, because a controller notices a write after it. */
const later = (ms: number | undefined, run: () => void): void => void setTimeout(run, ms ?? DEFAULT_MS).unref();
