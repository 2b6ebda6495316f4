import { expect, it } from '@jest/globals';
import { deploymentOf, groupOf, readTarget, specOf, WRITER } from '../../test/target-fixture.js';
import { pdbOf, poolOf, serviceOf, unitServiceOf } from './revision-objects.js';
import {
  describeEngine,
  engineTraits,
  instanceDevices,
  probePathOf,
  targetWarnings,
} from '../config/engine-description.js';

const config = readTarget();
const three = specOf({ scaling: { min_replicas: 3, max_replicas: 8 } });

it('a revision has a headless Service that selects its pods, and no others', () => {
  const service = serviceOf(specOf({ generation: 5 }), config, WRITER);
  expect(service).toMatchObject({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'slw-chat-00007-0000deadbeef', namespace: 'slipway-models' },
    spec: { clusterIP: 'None', ports: [{ name: 'http', port: 8_000, targetPort: 'http', protocol: 'TCP' }] },
  });
  const pods = (installation: string, revisionId: string) =>
    deploymentOf(specOf({ owner: { ...specOf().owner!, revisionId } }), config, { installation }).spec!.template!
      .metadata!.labels!;
  const isBehind = (labels: Record<string, string>) =>
    Object.entries(service.spec!.selector!).every(([key, value]) => labels[key] === value);
  expect(isBehind(pods(WRITER.installation, specOf().owner!.revisionId))).toBe(true);
  expect(isBehind(pods(WRITER.installation, 'another'))).toBe(false);
  expect(isBehind(pods('another', specOf().owner!.revisionId))).toBe(false);
});

it('the shared objects of a revision are the same for each of its instances', () => {
  const other = { ...three, instanceId: 'another', generation: 9, owner: { ...three.owner!, ordinal: 2 } };
  expect(serviceOf(other, config, WRITER)).toEqual(serviceOf(three, config, WRITER));
  expect(pdbOf(other, config, WRITER)).toEqual(pdbOf(three, config, WRITER));
});

it('the budget allows one disruption at a time, for any number of instances', () => {
  expect(pdbOf(three, config, WRITER)).toMatchObject({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    spec: {
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: serviceOf(three, config, WRITER).spec!.selector },
    },
  });
  for (const spec of [specOf(), specOf({ scaling: { min_replicas: 0, max_replicas: 8 } })])
    expect(pdbOf(spec, config, WRITER)).toEqual(pdbOf(three, config, WRITER));
});

it('the budget of groups allows the disruption of one group at a time', () => {
  const group = { ...three, runtime: { engine: 'vllm-multinode', args: {}, env: {} } };
  expect(pdbOf(group, config, WRITER).spec?.maxUnavailable).toBe(2);
});

it('Services select only the leader of a group, and have no name that the controller of groups uses', () => {
  const group = specOf({ runtime: { engine: 'vllm-multinode', args: {}, env: {} } });
  const leads = { 'leaderworkerset.sigs.k8s.io/worker-index': '0' };
  expect(serviceOf(group, config, WRITER).spec?.selector).toMatchObject(leads);
  const own = unitServiceOf(group, { ...config, reach: 'service' }, WRITER);
  expect(own?.spec?.selector).toMatchObject(leads);
  const { name } = groupOf(group, config, WRITER).metadata;
  expect(own?.metadata.name).toBe(`${name}-leader`);
  expect(serviceOf(specOf(), config, WRITER).spec?.selector).not.toHaveProperty([Object.keys(leads)[0]!]);
});

const PICKER = { name: '{pool}-epp', port: 9_002, failure_mode: 'FailClose' as const };
const pooled = { ...config, inference_pool: { endpoint_picker: PICKER } };

it('a revision has an InferencePool only if the file wants one, for the pods of its Service and with a picker of its own', () => {
  expect(poolOf(specOf(), config, WRITER)).toBeUndefined();
  for (const engine of ['vllm', 'vllm-multinode']) {
    const spec = specOf({ runtime: { engine, args: {}, env: {} } });
    const { metadata, spec: service } = serviceOf(spec, pooled, WRITER);
    expect(poolOf(spec, pooled, WRITER)).toEqual({
      apiVersion: 'inference.networking.k8s.io/v1',
      kind: 'InferencePool',
      metadata,
      spec: {
        selector: { matchLabels: service!.selector },
        targetPorts: [{ number: 8_000 }],
        endpointPickerRef: { name: `${metadata.name}-epp`, port: { number: 9_002 }, failureMode: 'FailClose' },
      },
    });
  }
});

it.each([
  ['vllm', { accelerator: 'l40s' }, { accelerator: 'l40s', count: 1 }],
  ['vllm', { accelerator: 'h100', count: 4 }, { accelerator: 'h100', count: 4 }],
  // Its engine allows one kind, takes eight on each node, and has two nodes.
  ['vllm-multinode', undefined, { accelerator: 'h100', count: 16 }],
  ['llama-cpp', undefined, { accelerator: null, count: 0 }],
  ['toString', undefined, undefined],
])('an instance of %s with resources %j takes %j', (engine, resources, expected) => {
  expect(instanceDevices(config, specOf({ runtime: { engine, args: {}, env: {} }, resources }))).toEqual(expected);
});

it('a unit has a Service of its own only with reach service', () => {
  expect(unitServiceOf(specOf(), config, WRITER)).toBeUndefined();
  const service = unitServiceOf(specOf(), { ...config, reach: 'service' }, WRITER);
  const unit = deploymentOf(specOf(), config, WRITER);
  expect(service?.metadata.name).toBe(unit.metadata.name);
  expect(service?.spec).toMatchObject({ type: 'ClusterIP', selector: unit.spec!.selector!.matchLabels });
});

it('the traits of an engine have what callers need, without accelerators, which the scheduler assigns', () => {
  expect(engineTraits(config, specOf())).toEqual({
    serves: ['chat'],
    unknownModel: 'rejects',
    identity: [],
    hasCacheSalt: false,
    readyTimeoutSeconds: 1_800,
    isKeyed: true,
    drain: 'gateway',
  });
  expect(engineTraits(config, specOf({ runtime: { engine: 'toString', args: {}, env: {} } }))).toBeUndefined();
  expect(describeEngine(config, 'vllm')).toMatchObject({
    name: 'vllm',
    args: ['max_model_len', 'quantization', 'prefix_caching'],
    env: ['VLLM_LOGGING_LEVEL', 'HF_TOKEN'],
    declared: [{ type: 'string' }, { type: 'string' }, { name: 'prefix_caching', type: 'boolean' }],
  });
  expect(probePathOf(config, specOf())).toBe('/health');
});

it('an operator is warned of an engine without a key and of images by tags', () => {
  const { vllm } = config.engines;
  const image = `vllm/vllm-openai@sha256:${'a'.repeat(64)}`;
  const of = (change: object) => targetWarnings({ ...config, engines: { vllm: { ...vllm!, ...change } } });
  expect(of({ image })).toEqual([]);
  expect(of({})).toEqual([expect.stringContaining('names its image by a tag')]);
  expect(of({ image, env: {} })).toEqual([expect.stringContaining('does not require a key')]);
  expect(targetWarnings({ ...pooled, engines: { vllm: { ...vllm!, image } } })).toEqual([
    expect.stringContaining('requests through its InferencePool get 401'),
  ]);
});
