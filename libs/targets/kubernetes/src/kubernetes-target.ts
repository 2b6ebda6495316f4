import {
  readAs,
  type ConfigReader,
  type MappingSchema,
  type Schema,
  type TargetConfig,
} from '@slipway/platform-config';
import { mapping, type DriverHost, type TargetKind } from '@slipway/target-driver';
import { KubernetesDriver } from './driver/kubernetes-driver.js';
import { readKubernetesEngine } from './config/kubernetes-engine-reader.js';
import { INFERENCE_POOL, readInferencePool } from './config/inference-pool-schema.js';
import { ACCELERATOR, DNS_LABEL, KUBERNETES_ENGINE } from './config/kubernetes-engine-schema.js';
import { urlProblems } from './manifests/reach.js';
import type { Accelerator, KubernetesTargetConfig } from './target-config.js';

const NAME_PATTERN = '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$';
const TEXT: Schema = { type: 'string', minLength: 1 };
const NAMESPACE: Schema = { type: 'string', pattern: DNS_LABEL.source };
const DEFAULT_RETAIN_SECONDS = 3_600;

const KUBERNETES: MappingSchema = mapping(
  {
    cluster: {
      anyOf: [
        { enum: ['in-cluster'] },
        mapping(
          {
            kubeconfig: {
              ...TEXT,
              pattern: '^/',
              description: 'Absolute path. The file is read again when it changes',
            },
            context: TEXT,
          },
          ['kubeconfig'],
        ),
      ],
      default: 'in-cluster',
      description: 'Access to the API server: with the ServiceAccount of this pod, or with a kubeconfig',
    },
    namespaces: {
      ...mapping(
        {
          default: NAMESPACE,
          by_tenant: { type: 'object', additionalProperties: NAMESPACE, description: 'Namespaces by tenant name' },
        },
        ['default'],
      ),
      description: 'Namespaces where models run. They must exist: Slipway does not create them',
    },
    reach: {
      anyOf: [
        { enum: ['pod', 'service'] },
        mapping(
          { url: { ...TEXT, description: 'URL with {unit}, and with {namespace} if there are several namespaces' } },
          ['url'],
        ),
      ],
      default: 'pod',
      description: 'How gateways reach an engine: by the address of its pod, by a Service of its own, or by a URL',
    },
    inference_pool: INFERENCE_POOL,
    secrets: {
      enum: ['reference', 'managed'],
      default: 'reference',
      description:
        'reference: the kubelet reads existing Secrets. managed: Slipway writes the values into Secrets of its own',
    },
    accelerators: {
      type: 'object',
      propertyNames: { pattern: NAME_PATTERN },
      additionalProperties: ACCELERATOR,
      description: 'Accelerators that resources.accelerator of a revision may name',
    },
    engines: {
      type: 'object',
      minProperties: 1,
      propertyNames: { pattern: NAME_PATTERN },
      additionalProperties: KUBERNETES_ENGINE,
      description: 'Images that serve a model, by the name in runtime.engine of a revision',
    },
    retain_seconds: {
      type: 'integer',
      minimum: 60,
      maximum: 604_800,
      default: DEFAULT_RETAIN_SECONDS,
      description: 'Time that a stopped unit is kept to record that it was started, in seconds',
    },
    on_drift: {
      enum: ['report', 'replace'],
      default: 'report',
      description: 'Action for a unit that was changed outside Slipway',
    },
  },
  ['namespaces', 'engines'],
);

/** `kind: kubernetes` of the operator's file: engines that run as pods of a cluster. */
export const kubernetesTarget: TargetKind = {
  kind: 'kubernetes',
  schema: KUBERNETES,
  maxInstances: 64,
  read(reader, path, entry): Omit<KubernetesTargetConfig, keyof TargetConfig> {
    const { properties } = KUBERNETES;
    const readKey = (key: string, fallback: unknown) =>
      entry[key] === undefined ? fallback : readAs(reader, `${path}.${key}`, entry[key], properties[key]!);
    for (const key of KUBERNETES.required ?? [])
      if (entry[key] === undefined) reader.fail(`${path}.${key}`, 'is required');
    const before = reader.problems.length;
    const accelerators = readKey('accelerators', {}) as Record<string, Accelerator>;
    const knowsAccelerators = reader.problems.length === before;
    const reach = readKey('reach', 'pod') as KubernetesTargetConfig['reach'];
    const namespaces = readKey('namespaces', { default: '' }) as KubernetesTargetConfig['namespaces'];
    const config = {
      cluster: readKey('cluster', 'in-cluster') as KubernetesTargetConfig['cluster'],
      namespaces: { default: namespaces.default, by_tenant: namespaces.by_tenant ?? {} },
      reach,
      ...readInferencePool(reader, `${path}.inference_pool`, entry['inference_pool']),
      secrets: readKey('secrets', 'reference') as KubernetesTargetConfig['secrets'],
      accelerators,
      retain_seconds: readKey('retain_seconds', DEFAULT_RETAIN_SECONDS) as number,
      on_drift: readKey('on_drift', 'report') as KubernetesTargetConfig['on_drift'],
    };
    if (typeof reach === 'object' && typeof reach.url === 'string')
      for (const problem of urlProblems(reach.url, config.namespaces)) reader.fail(`${path}.reach.url`, problem);
    return {
      ...config,
      engines: readEngines(reader, `${path}.engines`, entry['engines'], knowsAccelerators && accelerators),
    };
  },
  createDriver: (config: TargetConfig, host: DriverHost) =>
    new KubernetesDriver(config as KubernetesTargetConfig, host),
};

/** @param accelerators false if they could not be read, so that their problems are not reported twice */
function readEngines(
  reader: ConfigReader,
  path: string,
  value: unknown,
  accelerators: Record<string, Accelerator> | false,
): KubernetesTargetConfig['engines'] {
  if (value === undefined) return {};
  const engines = Object.entries(reader.map(path, value));
  if (engines.length === 0) reader.fail(path, 'must name at least one engine');
  return Object.fromEntries(
    engines.map(([name, one]) => [
      name,
      readKubernetesEngine(reader, `${path}.${name}`, {
        name,
        value: one,
        ...(accelerators !== false && { accelerators }),
      }),
    ]),
  );
}
