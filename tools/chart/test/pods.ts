import type { Bag } from '../src/chart.js';
import type { KubeObject } from '../src/helm.js';

export interface Container extends Bag {
  name: string;
  image: string;
  env?: { name: string; value?: string; valueFrom?: { secretKeyRef?: { name: string; key: string } } }[];
  ports?: { name: string; containerPort: number }[];
  securityContext?: Bag;
  resources?: { requests?: Bag; limits?: Bag };
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
  lifecycle?: { preStop?: { sleep?: { seconds: number } } };
  readinessProbe?: { httpGet: { path: string; port: number } };
  livenessProbe?: { httpGet: { path: string; port: number } };
}

export interface PodSpec extends Bag {
  initContainers?: Container[];
  containers: Container[];
  volumes?: (Bag & { name: string })[];
  securityContext?: Bag;
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  enableServiceLinks?: boolean;
  terminationGracePeriodSeconds?: number;
}

export interface Pod {
  of: KubeObject;
  labels: Record<string, string>;
  spec: PodSpec;
}

/** Every pod that the objects create, with the object that creates it. */
export function podsOf(objects: readonly KubeObject[]): Pod[] {
  return objects.flatMap((of): Pod[] => {
    if (of.kind === 'Pod') return [{ of, labels: of.metadata.labels ?? {}, spec: of['spec'] as PodSpec }];
    const template = (of['spec'] as { template?: { metadata: { labels: Record<string, string> }; spec: PodSpec } })
      ?.template;
    return template ? [{ of, labels: template.metadata.labels, spec: template.spec }] : [];
  });
}

export const containersOf = ({ initContainers = [], containers }: PodSpec): Container[] => [
  ...initContainers,
  ...containers,
];

export const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;

/** Finds an object by kind and name. */
export function found(objects: readonly KubeObject[], kind: string, name: string): any {
  const [one, ...others] = objects.filter((object) => object.kind === kind && object.metadata.name === name);
  if (!one || others.length > 0) throw new Error(`${others.length + (one ? 1 : 0)} objects are ${kind} ${name}`);
  return one;
}

/** Whether the selector matches these labels. */
export function isSelected(selector: Record<string, string>, labels: Record<string, string>): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

const SAMPLES: Record<string, string> = {
  DATABASE_URL: 'postgres://slipway_app:secret@postgres:5432/slipway',
  SLIPWAY_MIGRATE_DATABASE_URL: 'postgres://slipway:secret@postgres:5432/slipway',
  SLIPWAY_GATEWAY_DATABASE_URL: 'postgres://slipway_gateway_app:secret@postgres:5432/slipway',
  REDIS_URL: 'redis://:secret@redis:6379',
  SLIPWAY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  SLIPWAY_SECRET_KEYS_OLD: Buffer.alloc(32, 8).toString('base64'),
  SLIPWAY_BOOTSTRAP_TOKEN: `slw_bootstrap_${'0'.repeat(64)}`,
  SLIPWAY_METRICS_TOKEN: 'scrape',
};

/**
 * The environment of a container's process, with samples instead of secrets.
 * @throws Error if a reference has no sample
 */
export function environmentOf({ name, env = [] }: Container): NodeJS.ProcessEnv {
  return Object.fromEntries(
    env.map((one) => {
      const value = one.value ?? (one.name.startsWith('AWS_') ? 'sample' : SAMPLES[one.name]);
      if (value === undefined) throw new Error(`${name}: ${one.name} is a reference, and has no sample`);
      return [one.name, value];
    }),
  );
}
