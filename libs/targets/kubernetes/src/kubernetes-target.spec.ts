import { describe, expect, it } from '@jest/globals';
import { parseOperatorConfig } from '@slipway/platform-config';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { engineWith, problemsOf, readTarget, WRITTEN_TARGET } from '../test/target-fixture.js';
import { kubernetesTarget } from './kubernetes-target.js';

describe('a target as the documents write it', () => {
  it('is read without a problem, next to a secret that the cluster has', () => {
    const target = WRITTEN_TARGET.trim().split('\n').join('\n    ');
    const source = `targets:\n  - ${target}\nsecrets:\n  hf-token: {kubernetes: {name: hf, key: token}}\n`;
    expect(Object.keys(parseOperatorConfig(source, [kubernetesTarget]).secrets)).toEqual(['hf-token']);
    expect(problemsOf(WRITTEN_TARGET)).toEqual([]);
  });

  it('matches the schema for editors', () => {
    const isValid = new Ajv({ strict: false }).compile(kubernetesTarget.schema);
    const { name: _name, kind: _kind, max_instances: _most, ...own } = parse(WRITTEN_TARGET) as Record<string, unknown>;
    isValid(own);
    expect(isValid.errors).toBeNull();
    expect(isValid({ ...own, reach: 'ingress' })).toBe(false);
  });

  it('has its short forms expanded', () => {
    const { vllm, 'vllm-multinode': group, 'llama-cpp': llama } = readTarget().engines;
    expect(vllm).toMatchObject({
      args: { max_model_len: { arg: '--max-model-len={}' }, prefix_caching: { arg: '--enable-prefix-caching' } },
      env: { VLLM_API_KEY: '{instance_key}' },
      gpus: { min: 1, max: 4, share: 'exclusive' },
      stop: { drain: 'gateway', grace_seconds: 125 },
      unit: { kind: 'deployment' },
      allow: {
        accelerators: ['l40s', 'h100'],
        count_arg: ['--tensor-parallel-size={}'],
        memory_mb: { max: 98_304 },
        max_replicas: 8,
      },
      worker_pod: {},
    });
    expect(group).toMatchObject({ unit: { kind: 'leaderworkerset', size: 2 }, gpus: { min: 8, max: 8 } });
    expect(llama).toMatchObject({ args: { parallel: { arg: ['--parallel', '{}'] } }, stop: { grace_seconds: 35 } });
    expect(llama).not.toHaveProperty('gpus');
    expect(vllm).not.toHaveProperty('key_env');
  });

  it('has the defaults for what it leaves out', () => {
    expect(readTarget(engineWith({}))).toEqual({
      name: 'k',
      kind: 'kubernetes',
      max_instances: 64,
      cluster: 'in-cluster',
      namespaces: { default: 'models', by_tenant: {} },
      reach: 'pod',
      secrets: 'reference',
      accelerators: {},
      retain_seconds: 3_600,
      on_drift: 'report',
      engines: {
        e: {
          image: 'sim:1',
          command: ['serve'],
          port: 80,
          args: {},
          env: {},
          env_allow: [],
          ready: { path: '/health', timeout_seconds: 60 },
          stop: { drain: 'gateway', grace_seconds: 35 },
          unit: { kind: 'deployment' },
          resources: {},
          allow: { accelerators: [] },
          pod: {},
          worker_pod: {},
        },
      },
    });
  });
});

it('an InferencePool closes when its picker does not answer, unless the file says otherwise', () => {
  const picked = (picker: object) =>
    readTarget(engineWith({}, { inference_pool: { endpoint_picker: picker } })).inference_pool?.endpoint_picker;
  const longest = `{pool}-${'e'.repeat(21)}`;
  expect(picked({ name: longest, port: 9_002 })).toEqual({ name: longest, port: 9_002, failure_mode: 'FailClose' });
  expect(picked({ name: 'epp', port: 1, failure_mode: 'FailOpen' })).toMatchObject({ failure_mode: 'FailOpen' });
});

const GPU = { accelerators: { a: { resource: 'nvidia.com/gpu', max_count: 2 } } };

it.each<[Record<string, unknown>, string]>([
  [{ cluster: 'elsewhere' }, 'cluster must be'],
  [{ cluster: { kubeconfig: 'kubeconfig' } }, 'cluster.kubeconfig must match'],
  [{ namespaces: undefined }, 'namespaces is required'],
  [{ namespaces: {} }, 'namespaces.default is required'],
  [{ namespaces: { default: 'Models' } }, 'namespaces.default must match'],
  [
    { namespaces: { default: 'models', by_tenant: { acme: '../kube-system' } } },
    'namespaces.by_tenant.acme must match',
  ],
  [{ reach: 'ingress' }, 'reach must be'],
  [{ reach: { url: 'https://models.example' } }, 'reach.url must contain {unit}'],
  [{ reach: { url: 'https://{untit}.example' } }, 'reach.url uses the unknown placeholder {untit}'],
  [{ reach: { url: 'ftp://{unit}.example' } }, 'reach.url must be an http or https URL'],
  [
    { reach: { url: 'https://{unit}.example' }, namespaces: { default: 'm', by_tenant: { a: 'n' } } },
    'reach.url must contain {namespace}',
  ],
  [{ inference_pool: {} }, 'inference_pool.endpoint_picker is required'],
  [{ inference_pool: { endpoint_picker: { name: 'epp' } } }, 'inference_pool.endpoint_picker.port is required'],
  [
    { inference_pool: { endpoint_picker: { name: 'epp', port: 0 } } },
    'inference_pool.endpoint_picker.port must be a whole',
  ],
  [
    { inference_pool: { endpoint_picker: { name: '{pol}-epp', port: 9_002 } } },
    'inference_pool.endpoint_picker.name uses the unknown placeholder {pol}; did you mean {pool}?',
  ],
  [
    { inference_pool: { endpoint_picker: { name: `{pool}-${'e'.repeat(22)}`, port: 9_002 } } },
    'inference_pool.endpoint_picker.name must be the name of a Service',
  ],
  [
    { inference_pool: { endpoint_picker: { name: 'epp', port: 1, failure_mode: 'open' } } },
    'inference_pool.endpoint_picker.failure_mode must be FailClose or FailOpen',
  ],
  [{ secrets: 'resolved' }, 'secrets must be reference or managed'],
  [{ accelerators: { a: { resource: 'gpu' } } }, 'accelerators.a.max_count is required'],
  [{ accelerators: { a: { resource: 'nvidia com/gpu', max_count: 1 } } }, 'accelerators.a.resource must match'],
  [
    { accelerators: { a: { resource: 'gpu', max_count: 1, tolerations: [{ effect: 'NoStart' }] } } },
    'accelerators.a.tolerations[0].effect must be',
  ],
  [{ retain_seconds: 5 }, 'retain_seconds must be a whole number from 60'],
  [{ on_drift: 'repair' }, 'on_drift must be report or replace'],
  [{ engines: {} }, 'engines must name at least one'],
  [{ engins: {} }, 'engins is not a known key; did you mean engines?'],
])('refuses a target with %j', (target, expected) => {
  expect(problemsOf(engineWith({}, target))).toContainEqual(expect.stringContaining(expected));
});

it.each([
  { requests: { memory: '8Gi', cpu: '500m' }, limits: { memory: '8192Mi', cpu: '0.5' } },
  { requests: { memory: '1k' }, limits: { memory: '1Ki' } },
  { requests: { memory: '1Gi' } },
  { limits: { memory: '1Gi' } },
])('accepts requests up to the limits: %j', (resources) => {
  expect(problemsOf(engineWith({ resources }))).toEqual([]);
});

it.each<[Record<string, unknown>, string]>([
  [{ image: undefined }, 'image is required'],
  [{ image: 'sim:1 --privileged' }, 'image must match'],
  [{ command: undefined }, 'command must name a program'],
  [{ command: 'serve --port 80' }, 'command must be a list with one word per element'],
  [{ command: ['{model.id}'] }, 'command[0] must name its program without placeholders'],
  [{ command: ['serve', '{prot}'] }, 'command[1] uses the unknown placeholder {prot}; did you mean {port}?'],
  [{ command: ['serve', '{home}/models'] }, 'command[1] uses the unknown placeholder {home}'],
  [{ command: ['serve', '--trust-remote-code'] }, 'command[1] must not have --trust-remote-code'],
  [{ command: ['serve', '${model.id}'] }, 'command[1] must not have "$" or an open "$("'],
  [{ command: ['serve', '$(X{model.id})'] }, 'command[1] must not have "$" or an open "$("'],
  [{ command: ['serve', '$({model.id}{port})'] }, 'command[1] must not have "$" or an open "$("'],
  [{ command: ['sh', '-c', 'serve {model.id}'] }, 'command[2] must not contain a placeholder of the model'],
  [
    { command: ['/bin/bash', '-e', '-lc', 'serve {model.uri} "$@"'] },
    'command[3] must not contain a placeholder of the model',
  ],
  [{ env: { X: '$({model.id})' } }, 'env.X must not have "$" or an open "$("'],
  [{ args: { n: '--n=$({})' } }, 'args.n must not have "$" or an open "$("'],
  [{ port: 0 }, 'port must be a whole number from 1 to 65535'],
  [{ port: undefined }, 'port is required'],
  [{ key_env: 'A B' }, 'key_env must match'],
  [{ key_env: 'KEY', env: { KEY: 'x' } }, 'key_env is also set in env'],
  [{ key_env: 'SLIPWAY_INSTANCE_KEY' }, 'env.SLIPWAY_INSTANCE_KEY must not be SLIPWAY_INSTANCE_KEY'],
  [{ args: { N: '--n={}' } }, 'args.N is not a valid argument name'],
  [{ args: { n: '--n={} {}' } }, 'args.n must contain {} once'],
  [{ args: { n: ['--n', '{}', 'x'] } }, 'args.n must not have more than 2 entries'],
  [{ args: { n: { arg: '--n={}', type: 'integer', min: 3, max: 2 } } }, 'args.n.min must not be above max'],
  [{ env_allow: ['SLIPWAY_X'] }, 'env_allow[0] must not be SLIPWAY_X'],
  [{ env_allow: ['LEVEL', 'KEY'], key_env: 'KEY' }, 'env_allow[1] must not be KEY, which passes the key to the engine'],
  [{ env: { A: '{shell}' } }, 'env.A uses the unknown placeholder {shell}'],
  [{ ready: { while_starting: '503' } }, 'ready.while_starting is not a known key'],
  [{ ready: { path: 'health' } }, 'ready.path must match'],
  [{ stop: { signal: 'SIGINT' } }, 'stop.signal is not a known key'],
  [
    { stop: { grace_seconds: 60, drain_seconds: 50 } },
    'stop.drain_seconds is always five seconds less than grace_seconds',
  ],
  [{ stop: { grace_seconds: 5 } }, 'stop.grace_seconds must be more than 5'],
  [{ unknown_model: 'ignores' }, 'identity must state how the engine proves'],
  [{ unit: { kind: 'leaderworkerset' } }, 'unit.size is required'],
  [{ unit: { kind: 'deployment', size: 2 } }, 'unit.size is only valid for unit.kind leaderworkerset'],
  [{ worker_command: ['x'] }, 'worker_command is only valid for groups'],
  [{ worker_pod: { spec: {} } }, 'worker_pod is only valid for groups'],
  [{ resources: { limits: { memory: '8 GB' } } }, 'resources.limits.memory must match'],
  [{ resources: { requests: { cpu: 4 } } }, 'resources.requests.cpu must be text: put it in quotes'],
  [{ resources: { limit: {} } }, 'resources.limit is not a known key'],
  [
    { resources: { requests: { memory: '8Gi' }, limits: { memory: '8000M' } } },
    'resources.requests.memory is 8Gi, above limits.memory (8000M)',
  ],
  [
    { resources: { requests: { cpu: '1.5' }, limits: { cpu: '1400m' } } },
    'resources.requests.cpu is 1.5, above limits.cpu (1400m)',
  ],
  [
    { resources: { requests: { memory: '1025Ki' }, limits: { memory: '1Mi' } } },
    'resources.requests.memory is 1025Ki, above limits.memory (1Mi)',
  ],
  [{ allow: { accelerators: ['b'] } }, 'allow.accelerators[0] must be one of the accelerators of the target (a)'],
  [{ allow: { accelerators: ['a', 'a'] } }, 'allow.accelerators[1] repeats a'],
  [{ allow: { accelerators: ['a'], count: { fixed: 3 } } }, 'allow.accelerators[0] has at most 2 on a node'],
  [{ allow: { accelerators: ['a'], count: { fixed: 1, max: 2 } } }, 'allow.count must have either max or fixed'],
  [{ allow: { accelerators: ['a'], count: { arg: '{}' } } }, 'allow.count must have either max or fixed'],
  [{ allow: { accelerators: ['a'], count: { max: 2, arg: '--tp' } } }, 'allow.count.arg must contain {} once'],
  [
    { gpus: { min: 1, max: 2, share: 'exclusive' } },
    'allow.accelerators must name the accelerators that the engine runs on',
  ],
  [{ gpus: { min: 1, max: 2, share: 'fraction' } }, 'gpus.share must be exclusive'],
  [
    { gpus: { min: 2, max: 8, share: 'exclusive' }, allow: { accelerators: ['a'], count: { max: 1 } } },
    'gpus.min must not be above max',
  ],
  [{ command: ['serve', '--tp={gpu.count}'] }, '{gpu.count}'],
  [{ allow: { image: true } }, 'allow.image is not a known key'],
  [{ imagePullPolicy: 'Always' }, 'imagePullPolicy is not a known key'],
])('refuses an engine with %j', (keys, expected) => {
  const problems = problemsOf(engineWith(keys, GPU));
  expect(problems).toContainEqual(expect.stringContaining(expected));
  for (const problem of problems) expect(problem).toMatch(/^engines\.e\./);
});

const engineContainer = (keys: object) => ({ spec: { containers: [{ name: 'engine', ...keys }] } });

it.each<[Record<string, unknown>, string]>([
  [{ kind: 'Pod' }, 'pod.kind is not a part of a pod template'],
  [{ spec: [] }, 'pod.spec must be a mapping'],
  [{ metadata: { name: 'x' } }, 'pod.metadata.name must not be set'],
  [
    { metadata: { labels: { 'slipway.dev/instance': 'x' } } },
    'pod.metadata.labels.slipway.dev/instance must not be set',
  ],
  [
    { metadata: { annotations: { 'slipway.dev/instance-id': 'x' } } },
    'pod.metadata.annotations.slipway.dev/instance-id must not be set',
  ],
  [{ metadata: { labels: { 'app.kubernetes.io/managed-by': 'helm' } } }, 'managed-by must not be set'],
  [{ metadata: { labels: { team: 1 } } }, 'pod.metadata.labels.team must be text'],
  [{ spec: { automountServiceAccountToken: true } }, 'pod.spec.automountServiceAccountToken must not be true'],
  [{ spec: { enableServiceLinks: true } }, 'pod.spec.enableServiceLinks must not be true'],
  [{ spec: { terminationGracePeriodSeconds: 5 } }, 'pod.spec.terminationGracePeriodSeconds must not be set'],
  [{ spec: { restartPolicy: 'Never' } }, 'pod.spec.restartPolicy must not be set'],
  [
    { spec: { securityContext: { seccompProfile: { type: 'Unconfined' } } } },
    'pod.spec.securityContext.seccompProfile.type must not be Unconfined',
  ],
  [{ spec: { containers: {} } }, 'pod.spec.containers must be a list'],
  [{ spec: { containers: null } }, 'pod.spec.containers must be a list'],
  [{ spec: { containers: [{ image: 'x' }] } }, 'pod.spec.containers[0].name is required'],
  [{ spec: { volumes: [{ name: 'a' }, { name: 'a' }] } }, 'pod.spec.volumes[1].name repeats a'],
  [{ spec: { initContainers: [{ name: 'engine' }] } }, 'pod.spec.initContainers[0].name must not be engine'],
  [
    { spec: { containers: [{ name: 'side', securityContext: { privileged: true } }] } },
    'containers[0].securityContext.privileged must not be true',
  ],
  [
    { spec: { initContainers: [{ name: 'init', securityContext: { allowPrivilegeEscalation: true } }] } },
    'initContainers[0].securityContext.allowPrivilegeEscalation must not be true',
  ],
  [{ spec: { hostPID: true } }, 'pod.spec.hostPID must not be true'],
  [{ spec: { hostIPC: true } }, 'pod.spec.hostIPC must not be true'],
  [
    { spec: { securityContext: { windowsOptions: { hostProcess: true } } } },
    'pod.spec.securityContext.windowsOptions.hostProcess must not be true',
  ],
  [
    { spec: { volumes: [{ name: 't', projected: { sources: [{ configMap: {} }, { serviceAccountToken: {} }] } }] } },
    'pod.spec.volumes[0].projected.sources[1].serviceAccountToken must not be set',
  ],
  [
    engineContainer({ securityContext: { capabilities: { add: ['IPC_LOCK', 'SYS_ADMIN'] } } }),
    'containers[0].securityContext.capabilities.add must not have SYS_ADMIN',
  ],
  [
    { spec: { initContainers: [{ name: 'init', securityContext: { capabilities: { add: ['all'] } } }] } },
    'initContainers[0].securityContext.capabilities.add must not have all',
  ],
  [
    engineContainer({ securityContext: { procMount: 'Unmasked' } }),
    'containers[0].securityContext.procMount must be Default',
  ],
  [
    engineContainer({ securityContext: { seccompProfile: { type: 'Unconfined' } } }),
    'containers[0].securityContext.seccompProfile.type',
  ],
  [engineContainer({ image: 'other' }), 'pod.spec.containers[0].image must not be set'],
  [engineContainer({ command: ['sh'] }), 'pod.spec.containers[0].command must not be set'],
  [engineContainer({ args: ['x'] }), 'pod.spec.containers[0].args must not be set'],
  [engineContainer({ livenessProbe: { exec: {} } }), 'pod.spec.containers[0].livenessProbe must not be set'],
  [engineContainer({ readinessProbe: {} }), 'pod.spec.containers[0].readinessProbe must not be set'],
  [engineContainer({ startupProbe: {} }), 'pod.spec.containers[0].startupProbe must not be set'],
  [
    engineContainer({ lifecycle: { preStop: { exec: {} } } }),
    'pod.spec.containers[0].lifecycle.preStop must not be set',
  ],
  [engineContainer({ env: [{ name: 'KEY', value: 'mine' }] }), 'pod.spec.containers[0].env[0].name must not be KEY'],
  [engineContainer({ env: [{ name: 'FREE', value: 'x' }] }), 'pod.spec.containers[0].env[0].name must not be FREE'],
  [engineContainer({ env: [{ name: 'SLIPWAY_X', value: 'x' }] }), 'env[0].name must not be SLIPWAY_X'],
  [engineContainer({ ports: [{ name: 'http', containerPort: 1 }] }), 'ports[0].name must not be http'],
])('refuses a pod with %j', (pod, expected) => {
  const problems = problemsOf(engineWith({ key_env: 'KEY', env_allow: ['FREE'], pod }));
  expect(problems).toContainEqual(expect.stringContaining(expected));
  for (const problem of problems) expect(problem).toMatch(/^engines\.e\.pod\./);
});

it('accepts a script that ends with the arguments after it', () => {
  expect(
    problemsOf(engineWith({ command: ['sh', '-c', 'exec serve --port {port} "$@"', 'serve', '{model.id}'] })),
  ).toEqual([]);
});

it('accepts unknown fields of a pod, and fields that only make it stricter', () => {
  const pod = {
    metadata: { labels: { team: 'search' }, annotations: { 'prometheus.io/scrape': 'true' } },
    spec: {
      fieldOfNextYear: { deep: [1] },
      securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: 'engine.json' } },
      containers: [
        {
          name: 'engine',
          lifecycle: { postStart: { sleep: { seconds: 1 } } },
          securityContext: { capabilities: { drop: ['ALL'], add: ['IPC_LOCK', 'CAP_CHOWN'] } },
        },
        { name: 'side', image: 'x' },
      ],
      volumes: [{ name: 'ca', projected: { sources: [{ configMap: { name: 'ca' } }] } }],
    },
  };
  expect(problemsOf(engineWith({ pod }))).toEqual([]);
});
