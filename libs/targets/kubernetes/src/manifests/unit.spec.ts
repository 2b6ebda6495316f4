import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { deploymentOf, engineWith, groupOf, readTarget, specOf, WRITER } from '../../test/target-fixture.js';
import type { Container, PodSpec, PodTemplate } from '../api/objects.js';
import type { KubernetesTargetConfig } from '../target-config.js';
import { secretOf } from './unit.js';

const config = readTarget();
const own = (engine: string) => specOf({ runtime: { engine, args: {}, env: {} }, resources: {} });
const templateOf = (spec = specOf(), of = config) => deploymentOf(spec, of, WRITER).spec!.template!;
const engineIn = ({ spec }: PodTemplate) => spec.containers.find(({ name }) => name === 'engine') as Container;

describe('a unit', () => {
  it('is one pod that is written once', () => {
    const { spec, ...unit } = deploymentOf(specOf({ generation: 7 }), config, WRITER);
    expect(unit).toMatchObject({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'slw-chat-00007-0-6789abcd-g7', namespace: 'slipway-models' },
    });
    expect(spec).toMatchObject({
      replicas: 1,
      strategy: { type: 'Recreate' },
      revisionHistoryLimit: 0,
      progressDeadlineSeconds: 2_147_483_647,
    });
    expect(spec!.template!.metadata!.labels).toEqual(unit.metadata.labels);
    expect(unit.metadata.labels).toMatchObject(spec!.selector!.matchLabels!);
    expect(spec!.selector!.matchLabels).toEqual({
      'slipway.dev/installation': WRITER.installation,
      'slipway.dev/instance': specOf().instanceId,
      'slipway.dev/generation': '7',
    });
  });

  it('is in the namespace of its tenant, and a tenant named like a method has none of its own', () => {
    expect(deploymentOf(specOf({ tenantName: 'acme' }), config, WRITER).metadata.namespace).toBe('models-acme');
    expect(deploymentOf(specOf({ tenantName: 'toString' }), config, WRITER).metadata.namespace).toBe('slipway-models');
  });

  it('is the same each time it is made', () => {
    expect(deploymentOf(specOf(), config, WRITER)).toEqual(deploymentOf(specOf(), config, WRITER));
  });

  it('contains no key and no managed value, in any form', () => {
    const secrets = { ...config, secrets: 'managed' as const };
    fc.assert(
      fc.property(
        fc.stringMatching(/^[A-Za-z0-9]{12,40}$/),
        fc.stringMatching(/^[A-Za-z0-9]{12,40}$/),
        (key, value) => {
          const spec = specOf({ instanceKey: key, runtime: { engine: 'vllm', args: {}, env: { HF_TOKEN: value } } });
          const written = JSON.stringify(deploymentOf(spec, secrets, WRITER));
          for (const hidden of [key, value])
            for (const form of [hidden, Buffer.from(hidden).toString('base64')]) expect(written).not.toContain(form);
          expect(Object.keys(secretOf(spec, secrets, WRITER)!.data!).sort()).toEqual(['env.HF_TOKEN', 'instance-key']);
        },
      ),
    );
  });
});

describe('the pod of a unit', () => {
  it('has the part of every engine, and the operator’s part', () => {
    const { spec } = templateOf();
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      priorityClassName: 'inference',
      terminationGracePeriodSeconds: 10 + 120 + 5,
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      nodeSelector: { 'nvidia.com/gpu.product': 'NVIDIA-L40S' },
      tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists' }],
      volumes: [{ name: 'weights', persistentVolumeClaim: { claimName: 'hf-cache' } }, { name: 'shm' }],
    });
    expect(spec).not.toHaveProperty('runtimeClassName');
    expect(engineIn(templateOf())).toMatchObject({
      image: 'vllm/vllm-openai:v0.18.0',
      ports: [{ name: 'http', containerPort: 8_000, protocol: 'TCP' }],
      lifecycle: { preStop: { sleep: { seconds: 10 } } },
      securityContext: { allowPrivilegeEscalation: false },
      volumeMounts: [{ name: 'weights' }, { name: 'shm' }],
      resources: {
        requests: { cpu: '4', memory: '48Gi', 'nvidia.com/gpu': '1' },
        limits: { memory: '48Gi', 'nvidia.com/gpu': '1' },
      },
    });
    expect(engineIn(templateOf()).env).toContainEqual({ name: 'HF_HOME', value: '/weights' });
  });

  it('keeps the operator’s settings of the main container', () => {
    const { spec } = templateOf(own('llama-cpp'));
    expect(spec['securityContext']).toEqual({
      runAsNonRoot: true,
      runAsUser: 10_001,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(engineIn(templateOf(own('llama-cpp')))['securityContext']).toEqual({
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
      allowPrivilegeEscalation: false,
    });
    expect(JSON.stringify(spec)).not.toContain('nvidia');
  });

  it('gets the accelerator and the memory that the revision requests, as request and as limit', () => {
    const spec = specOf({ resources: { accelerator: 'h100', count: 4, memory_mb: 65_536 } });
    const template = templateOf(spec);
    expect(engineIn(template)['resources']).toEqual({
      requests: { cpu: '4', memory: '65536Mi', 'nvidia.com/gpu': '4' },
      limits: { memory: '65536Mi', 'nvidia.com/gpu': '4' },
    });
    expect(template.spec).toMatchObject({
      runtimeClassName: 'nvidia',
      nodeSelector: { 'nvidia.com/gpu.product': 'NVIDIA-H100-80GB-HBM3' },
    });
  });

  it('tolerates the taints of the operator and those of the accelerator', () => {
    const pod = {
      spec: { tolerations: [{ key: 'mine' }], nodeSelector: { zone: 'a', gpu: 'mine' }, runtimeClassName: 'kata' },
    };
    const accelerators = {
      a: { resource: 'gpu', max_count: 1, tolerations: [{ key: 'gpu' }], node_selector: { gpu: 'a' } },
    };
    const of = readTarget(engineWith({ pod, allow: { accelerators: ['a'] } }, { accelerators }));
    expect(templateOf(own('e'), of).spec).toMatchObject({
      tolerations: [{ key: 'mine' }, { key: 'gpu' }],
      nodeSelector: { zone: 'a', gpu: 'a' },
      runtimeClassName: 'kata',
    });
  });

  it('has its variables in an order in which each can use those before it', () => {
    const env = [
      { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'AUTH', value: '$(KEY)' },
    ];
    const keys = {
      key_env: 'KEY',
      env: { HOST: '$(POD_IP)' },
      pod: { spec: { containers: [{ name: 'engine', env }] } },
    };
    const names = engineIn(templateOf(own('e'), readTarget(engineWith(keys)))).env!.map(({ name }) => name);
    expect(names).toEqual(['KEY', 'POD_IP', 'AUTH', 'HOST']);
  });

  it('has the whole id in an annotation if the id of its instance cannot be a label', () => {
    const spec = specOf({ instanceId: '_'.repeat(128) });
    expect(templateOf(spec).metadata!.annotations).toEqual({ 'slipway.dev/instance-id': spec.instanceId });
    expect(templateOf().metadata).not.toHaveProperty('annotations');
  });
});

/** A target as if the reader had accepted the part. */
const forced = (pod: object): KubernetesTargetConfig => ({
  ...config,
  engines: { ...config.engines, vllm: { ...config.engines['vllm']!, pod: { spec: pod as never } } },
});

const TOKEN_SOURCES = [
  { configMap: { name: 'ca' } },
  { serviceAccountToken: { path: 'token', audience: 'api' } },
  { serviceAccountToken: {}, secret: { name: 'own' } },
  { podCertificate: { signerName: 'a/b' } },
];

describe('the protected part of a pod', () => {
  const bad = fc.constantFrom<unknown>(
    true,
    false,
    null,
    'x',
    [],
    {},
    { type: 'Unconfined' },
    { seccompProfile: { type: 'Unconfined' } },
  );
  const context = fc
    .tuple(
      fc.dictionary(fc.constantFrom('privileged', 'allowPrivilegeEscalation', 'seccompProfile', 'procMount'), bad),
      fc.record({ windowsOptions: fc.constantFrom<unknown>({ hostProcess: true }, true) }, { requiredKeys: [] }),
    )
    .map(([one, other]): Record<string, unknown> => ({ ...one, ...other }));
  const capabilities = fc.constantFrom<unknown>({ add: ['SYS_ADMIN', 'CHOWN'] }, { add: ['ALL'] }, { add: 'x' }, 'x');
  const keys = [
    'image',
    'command',
    'args',
    'startupProbe',
    'readinessProbe',
    'livenessProbe',
    'securityContext',
    'env',
    'lifecycle',
  ];
  const container = fc
    .record({ name: fc.constantFrom('engine', 'side') })
    .chain(({ name }) =>
      fc
        .tuple(fc.dictionary(fc.constantFrom(...keys), bad), context, fc.option(capabilities))
        .map(([rest, own, more]) => ({ ...rest, name, securityContext: more ? { ...own, capabilities: more } : own })),
    );
  const pod = fc.record({
    automountServiceAccountToken: bad,
    enableServiceLinks: bad,
    restartPolicy: bad,
    terminationGracePeriodSeconds: bad,
    securityContext: fc.oneof(bad, context),
    hostPID: bad,
    hostIPC: bad,
    volumes: fc.constantFrom<unknown>(undefined, [{ name: 'token', projected: { sources: TOKEN_SOURCES } }], 'x'),
    containers: fc.option(fc.uniqueArray(container, { maxLength: 2, selector: ({ name }) => name })),
  });

  it('is kept for any part that is merged over it', () => {
    fc.assert(
      fc.property(pod, (written) => {
        const { spec } = templateOf(specOf(), forced(written));
        const [expected, engine] = [engineIn(templateOf()), engineIn({ spec })];
        expect(spec).toMatchObject({
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: 135,
          securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
        });
        for (const key of ['restartPolicy', 'hostPID', 'hostIPC']) expect(spec).not.toHaveProperty(key);
        expect(JSON.stringify(spec)).not.toMatch(/serviceAccountToken|podCertificate|hostProcess|SYS_ADMIN|"ALL"/);
        for (const key of ['image', 'command', 'args', 'startupProbe', 'readinessProbe', 'livenessProbe'])
          expect(engine[key]).toEqual(expected[key]);
        expect(engine).toMatchObject({ lifecycle: { preStop: { sleep: { seconds: 10 } } } });
        for (const one of spec.containers) expect(isConfined(one)).toBe(true);
      }),
    );
  });

  it('leaves the other sources of a volume with a token, and the capabilities that change no node', () => {
    const { spec } = templateOf(
      specOf(),
      forced({
        volumes: [{ name: 'token', projected: { defaultMode: 292, sources: TOKEN_SOURCES } }],
        containers: [{ name: 'engine', securityContext: { capabilities: { drop: ['ALL'], add: ['cap_ipc_lock'] } } }],
      }),
    );
    const sources = [{ configMap: { name: 'ca' } }, { secret: { name: 'own' } }];
    expect(spec['volumes']).toEqual([{ name: 'token', projected: { defaultMode: 292, sources } }]);
    expect(engineIn({ spec })['securityContext']).toMatchObject({
      capabilities: { drop: ['ALL'], add: ['cap_ipc_lock'] },
    });
  });

  it('is kept for init containers', () => {
    const { spec } = templateOf(
      specOf(),
      forced({ initContainers: [{ name: 'init', securityContext: { privileged: true } }] }),
    );
    expect((spec as PodSpec).initContainers!.every(isConfined)).toBe(true);
  });

  it('removes a foreign value even if ours has none', () => {
    const pod = { spec: { containers: [{ name: 'engine', args: ['--api-key=mine'] }] } };
    const engines = { 'llama-cpp': { ...config.engines['llama-cpp']!, pod } };
    expect(engineIn(templateOf(own('llama-cpp'), { ...config, engines }))).not.toHaveProperty('args');
  });

  it('accepts a seccomp profile of the operator’s own', () => {
    const seccompProfile = { type: 'Localhost', localhostProfile: 'engine.json' };
    expect(templateOf(specOf(), forced({ securityContext: { seccompProfile } })).spec['securityContext']).toEqual({
      seccompProfile,
    });
  });
});

function isConfined({ securityContext }: Container): boolean {
  const {
    privileged,
    allowPrivilegeEscalation: escalates,
    seccompProfile: profile,
    procMount,
  } = securityContext as Record<string, unknown>;
  const isUnconfined = (profile as { type?: string } | undefined)?.type === 'Unconfined';
  return privileged === undefined && escalates === false && procMount === undefined && !isUnconfined;
}

describe('a group', () => {
  const group = groupOf(own('vllm-multinode'), config, WRITER);
  const { leaderTemplate, workerTemplate, ...rest } = group.spec!.leaderWorkerTemplate!;

  it('is one group of the requested size, which restarts as a whole', () => {
    expect(group).toMatchObject({
      apiVersion: 'leaderworkerset.x-k8s.io/v1',
      kind: 'LeaderWorkerSet',
      spec: { replicas: 1 },
    });
    expect(rest).toEqual({ size: 2, restartPolicy: 'RecreateGroupOnPodRestart' });
  });

  it('has a leader that serves and workers without probes', () => {
    const [leader, worker] = [engineIn(leaderTemplate!), engineIn(workerTemplate!)];
    expect(leader).toHaveProperty('readinessProbe');
    expect(worker).not.toHaveProperty('readinessProbe');
    expect(worker).not.toHaveProperty('ports');
    expect(worker.command![2]).toContain('worker --ray_address="$LWS_LEADER_ADDRESS"');
    for (const one of [leader, worker]) expect(one['resources']).toMatchObject({ limits: { 'nvidia.com/gpu': '8' } });
    for (const { spec } of [leaderTemplate!, workerTemplate!])
      expect(spec).toMatchObject({ runtimeClassName: 'nvidia', automountServiceAccountToken: false });
  });
});
