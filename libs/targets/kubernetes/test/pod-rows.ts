import type { Observation } from '@slipway/target-driver';
import type { Condition, ContainerStatus, Deployment, Pod, PodStatus } from '../src/api/objects.js';

export const STARTED = '2026-03-01T10:00:05Z';
export const LATER = '2026-03-01T10:07:00Z';

export function unit(overrides: Partial<Deployment> = {}): Deployment {
  return {
    metadata: { name: 'slw-chat-1-0-0190c0de-g1', namespace: 'models', uid: 'u1', generation: 1 },
    spec: {
      replicas: 1,
      template: { spec: { containers: [{ name: 'engine', ports: [{ name: 'http', containerPort: 8000 }] }] } },
    },
    ...overrides,
  };
}

export function pod(status: PodStatus, overrides: Partial<Pod['metadata']> = {}, spec: Partial<Pod['spec']> = {}): Pod {
  return {
    metadata: {
      name: 'pod-1',
      namespace: 'models',
      uid: 'p1',
      creationTimestamp: '2026-03-01T10:00:00Z',
      ...overrides,
    },
    spec: { containers: [{ name: 'engine' }], nodeName: 'node-a', ...spec },
    status: { phase: 'Running', podIP: '10.1.2.3', ...status },
  };
}

export const condition = (type: string, status: string, more: Partial<Condition> = {}): Condition => ({
  type,
  status,
  lastTransitionTime: '2026-03-01T10:00:00Z',
  ...more,
});
export const engine = (status: Partial<ContainerStatus>): { containerStatuses: ContainerStatus[] } => ({
  containerStatuses: [{ name: 'engine', restartCount: 0, ...status }],
});
export const running = { running: { startedAt: STARTED } };
const ended = (exitCode: number, reason = 'Error', message?: string) => ({
  terminated: { exitCode, reason, finishedAt: LATER, ...(message && { message }) },
});
export const scheduled = condition('PodScheduled', 'True');
export const ready = [scheduled, condition('ContainersReady', 'True'), condition('Ready', 'True')];
const disrupted = (reason: string) =>
  condition('DisruptionTarget', 'True', { reason, message: `because of ${reason}` });

type Row = [name: string, pods: Pod[], expected: Partial<Observation>, of?: Deployment];

const refused = (message: string) =>
  unit({ status: { conditions: [condition('ReplicaFailure', 'True', { reason: 'FailedCreate', message })] } });
export const QUOTA =
  'pods "x" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=1, used: 0, limited: 0';
export const SECURITY = 'pods "x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true';
export const WEBHOOK = 'admission webhook "policy.example.com" denied the request: no such cost centre';
const INVALID = 'Pod "x" is invalid: spec.containers[0].resources: Invalid value: "9Gi": must be less than or equal';
const NO_GPUS = '0/8 nodes are available: 8 Insufficient nvidia.com/gpu.';

export const rows: Row[] = [
  ['no pod yet', [], { state: 'starting', reason: 'loading' }],
  ['a quota', [], { state: 'starting', reason: 'quota_exceeded', message: QUOTA }, refused(QUOTA)],
  ['Pod Security', [], { state: 'starting', reason: 'admission_denied', message: SECURITY }, refused(SECURITY)],
  ['a webhook', [], { state: 'starting', reason: 'admission_denied', message: WEBHOOK }, refused(WEBHOOK)],
  ['a template that is none', [], { state: 'starting', reason: 'invalid_template' }, refused(INVALID)],
  [
    'no node',
    [
      pod({
        phase: 'Pending',
        conditions: [condition('PodScheduled', 'False', { reason: 'Unschedulable', message: NO_GPUS })],
      }),
    ],
    { state: 'starting', reason: 'unschedulable', message: NO_GPUS },
  ],
  [
    'a gate',
    [pod({ phase: 'Pending', conditions: [condition('PodScheduled', 'False', { reason: 'SchedulingGated' })] })],
    { state: 'starting', reason: 'gated' },
  ],
  ...['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull'].map((reason): Row => [
    reason,
    [
      pod({
        phase: 'Pending',
        conditions: [scheduled],
        ...engine({ state: { waiting: { reason, message: 'no such tag' } } }),
      }),
    ],
    { state: 'starting', reason: 'image_pull_failed', message: `${reason}: no such tag` },
  ]),
  [
    'a secret that is missing',
    [
      pod({
        conditions: [scheduled],
        ...engine({ state: { waiting: { reason: 'CreateContainerConfigError', message: 'secret "hf" not found' } } }),
      }),
    ],
    { state: 'starting', reason: 'config_error', message: 'CreateContainerConfigError: secret "hf" not found' },
  ],
  [
    'a container that cannot be made',
    [
      pod({
        conditions: [scheduled],
        ...engine({ state: { waiting: { reason: 'CreateContainerError', message: 'no device' } } }),
      }),
    ],
    { state: 'starting', reason: 'start_failed' },
  ],
  [
    'an init container that runs',
    [
      pod({
        phase: 'Pending',
        conditions: [scheduled],
        initContainerStatuses: [{ name: 'fetch', restartCount: 0, state: running }],
        ...engine({ state: { waiting: { reason: 'PodInitializing' } } }),
      }),
    ],
    { state: 'starting', reason: 'loading_weights' },
  ],
  [
    'an init container that failed',
    [
      pod({
        phase: 'Pending',
        conditions: [scheduled],
        initContainerStatuses: [
          { name: 'fetch', restartCount: 2, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: ended(3) },
        ],
        ...engine({ state: { waiting: { reason: 'PodInitializing' } } }),
      }),
    ],
    {
      state: 'starting',
      reason: 'init_failed',
      restarts: 2,
      incarnation: 'p1/2',
      lastExit: { code: 3, reason: 'exited', at: LATER },
    },
  ],
  [
    'an image that is pulled',
    [
      pod({
        phase: 'Pending',
        conditions: [scheduled],
        ...engine({ state: { waiting: { reason: 'ContainerCreating' } } }),
      }),
    ],
    { state: 'starting', reason: 'loading', message: 'ContainerCreating' },
  ],
  [
    'a model that loads',
    [pod({ conditions: [scheduled, condition('Ready', 'False')], ...engine({ state: running, started: false }) })],
    { state: 'starting', reason: 'loading' },
  ],
  [
    'an engine that has started and was not yet asked whether it is ready',
    [pod({ conditions: [scheduled, condition('Ready', 'False')], ...engine({ state: running, started: true }) })],
    { state: 'starting', reason: 'loading' },
  ],
  [
    'a crash loop',
    [
      pod({
        conditions: [scheduled, condition('Ready', 'False')],
        ...engine({
          restartCount: 4,
          state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s' } },
          lastState: ended(1, 'Error', 'no such model'),
        }),
      }),
    ],
    {
      state: 'starting',
      reason: 'crash_loop',
      restarts: 4,
      message: 'the engine ended with code 1: no such model',
      lastExit: { code: 1, reason: 'exited', at: LATER },
    },
  ],
  [
    'no memory',
    [
      pod({
        conditions: [scheduled],
        ...engine({
          restartCount: 1,
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: ended(137, 'OOMKilled'),
        }),
      }),
    ],
    { state: 'starting', reason: 'out_of_memory', lastExit: { code: 137, reason: 'out_of_memory', at: LATER } },
  ],
  [
    'a program that the image lacks',
    [
      pod({
        conditions: [scheduled],
        ...engine({
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: ended(128, 'StartError', 'exec: "vllm": executable file not found in $PATH'),
        }),
      }),
    ],
    { state: 'starting', reason: 'program_not_found' },
  ],
  [
    'a probe that fails after it passed',
    [
      pod({
        conditions: [
          scheduled,
          condition('ContainersReady', 'False'),
          condition('Ready', 'False', {
            lastTransitionTime: LATER,
            message: 'containers with unready status: [engine]',
          }),
        ],
        ...engine({ state: running, started: true }),
      }),
    ],
    { state: 'unhealthy', reason: 'probe_failed', message: 'containers with unready status: [engine]' },
  ],
  [
    'a pod that serves',
    [pod({ conditions: ready, ...engine({ state: running, started: true, ready: true }) })],
    { state: 'ready', baseUrl: 'http://10.1.2.3:8000', place: 'node-a', incarnation: 'p1/0', restarts: 0 },
  ],
  ...(
    [
      ['PreemptionByScheduler', 'preempted'],
      ['DeletionByTaintManager', 'node_lost'],
      ['EvictionByEvictionAPI', 'evicted'],
      ['DeletionByPodGC', 'node_lost'],
      ['TerminationByKubelet', 'node_shutdown'],
    ] as const
  ).map(([why, reason]): Row => [
    why,
    [
      pod(
        { conditions: [...ready, disrupted(why)], ...engine({ state: running, started: true }) },
        { deletionTimestamp: LATER },
      ),
    ],
    { state: 'unhealthy', reason, message: `because of ${why}`, incarnation: 'p1/0', lastExit: undefined },
  ]),
  [
    'a pod that somebody deletes',
    [pod({ conditions: ready, ...engine({ state: running, started: true }) }, { deletionTimestamp: LATER })],
    { state: 'unhealthy', reason: 'deleted', message: 'pod pod-1 is being deleted' },
  ],
  [
    'a node that does not answer',
    [
      pod({
        conditions: [scheduled, condition('ContainersReady', 'True'), condition('Ready', 'False')],
        ...engine({ state: running, started: true, ready: true }),
      }),
    ],
    { state: 'unhealthy', reason: 'node_lost' },
  ],
  [
    'a pod that a node has put out, and no other yet',
    [pod({ phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.', conditions: [] })],
    { state: 'unhealthy', reason: 'evicted', incarnation: undefined, message: 'The node was low on resource: memory.' },
  ],
  [
    'a unit that ends',
    [pod({ conditions: ready, ...engine({ state: running }) }, { deletionTimestamp: LATER })],
    { state: 'stopping', reason: 'terminated' },
    unit({ spec: { ...unit().spec, replicas: 0 } }),
  ],
  [
    'a unit that has ended, with a pod that only lies there',
    [pod({ phase: 'Failed', reason: 'Evicted' })],
    { state: 'exited', reason: 'terminated', incarnation: undefined },
    unit({ spec: { ...unit().spec, replicas: 0 } }),
  ],
];
