import { keysOf, NAME, readAs, type ConfigReader } from '@slipway/platform-config';
import {
  checkArgNames,
  checkCommandShape,
  DEFAULT_READY_SECONDS,
  type ArgConfig,
  type TemplateConfig,
} from '@slipway/target-driver';
import { allowanceProblems, engineProblems } from './kubernetes-engine-problems.js';
import { KUBERNETES_ENGINE } from './kubernetes-engine-schema.js';
import {
  AFTER_DRAIN_SECONDS,
  type Accelerator,
  type Allowance,
  type KubernetesEngine,
  type PodPart,
} from '../target-config.js';

type Bag = Record<string, unknown>;

const DEFAULT_HEALTH = '/health';
const DEFAULT_DRAIN_SECONDS = 30;

/** An engine as the schema has read it, with its short forms. */
type WrittenEngine = TemplateConfig & {
  image?: string;
  port?: number;
  key_env?: string;
  args?: Record<string, string | string[] | ArgConfig>;
  stop?: { drain?: 'engine' | 'gateway'; grace_seconds?: number; drain_seconds?: number };
  unit?: { kind: 'deployment' | 'leaderworkerset'; size?: number };
  worker_command?: TemplateConfig['command'];
  resources?: KubernetesEngine['resources'];
  spread?: KubernetesEngine['spread'];
  allow?: {
    accelerators?: string[];
    count?: { max?: number; fixed?: number; arg?: string | string[] };
    memory_mb?: { max: number };
    max_replicas?: number;
  };
};

/**
 * Reads one entry of `engines`, and expands its short forms.
 * @param accelerators the target's accelerators; absent if they could not be read
 */
export function readKubernetesEngine(
  reader: ConfigReader,
  path: string,
  { name, value, accelerators }: { name: string; value: unknown; accelerators?: Record<string, Accelerator> },
): KubernetesEngine {
  if (!NAME.test(name)) reader.fail(path, `is not a valid engine name (${NAME.source})`);
  const before = reader.problems.length;
  // Problems name their positions in the file, so the keys are removed from a copy.
  const { pod, worker_pod: workerPod, ...rest } = { ...reader.map(path, value, keysOf(KUBERNETES_ENGINE)) };
  checkCommandShape(reader, path, rest);
  const isCommandWrong = reader.problems.length > before;
  const args = checkArgNames(reader, path, rest['args']);
  const known = Object.fromEntries(
    Object.entries(rest).flatMap(([key, one]): [string, unknown][] => {
      if (!keysOf(KUBERNETES_ENGINE).includes(key)) return [];
      return key === 'args' && isMapping(one)
        ? [[key, Object.fromEntries(args.map((arg) => [arg, one[arg]]))]]
        : [[key, one]];
    }),
  );
  const required = (KUBERNETES_ENGINE.required ?? []).filter((key) => !(key === 'command' && isCommandWrong));
  const read = readAs(reader, path, known, { ...KUBERNETES_ENGINE, required }) as WrittenEngine;
  sayOneOf(reader, path, read);
  const engine: KubernetesEngine = {
    ...written(read),
    pod: podPart(reader, `${path}.pod`, pod),
    worker_pod: podPart(reader, `${path}.worker_pod`, workerPod),
  };
  if (reader.problems.length > before) return engine;
  const problems = [...engineProblems(engine), ...(accelerators ? allowanceProblems(engine, accelerators) : [])];
  for (const { key, problem } of problems) reader.fail(`${path}.${key}`, problem);
  return engine;
}

/** Reports settings for which two keys could have different values. */
function sayOneOf(
  reader: ConfigReader,
  path: string,
  { allow, stop, key_env: keyEnv, env = {}, unit }: WrittenEngine,
): void {
  const { fixed, max, arg } = allow?.count ?? {};
  if (allow?.count && (fixed === undefined) === (max === undefined))
    reader.fail(
      `${path}.allow.count`,
      `must have either max or fixed${arg === undefined ? '' : ' in addition to arg'}`,
    );
  if (stop?.grace_seconds !== undefined && stop.drain_seconds !== undefined)
    reader.fail(`${path}.stop.drain_seconds`, 'is always five seconds less than grace_seconds: set only one of them');
  if (stop?.grace_seconds !== undefined && stop.grace_seconds <= AFTER_DRAIN_SECONDS)
    reader.fail(`${path}.stop.grace_seconds`, `must be more than ${AFTER_DRAIN_SECONDS}`);
  if (keyEnv !== undefined && Object.hasOwn(env, keyEnv)) reader.fail(`${path}.key_env`, 'is also set in env');
  if (unit && (unit.kind === 'leaderworkerset') !== (unit.size !== undefined))
    reader.fail(
      `${path}.unit.size`,
      unit.size === undefined ? 'is required' : 'is only valid for unit.kind leaderworkerset',
    );
}

function written(read: WrittenEngine): Omit<KubernetesEngine, 'pod' | 'worker_pod'> {
  const {
    key_env: keyEnv,
    image = '',
    port = 0,
    command = [],
    args = {},
    env = {},
    stop,
    ready,
    unit,
    gpus: _gpus,
    ...rest
  } = read;
  const gpus = gpusOf(read);
  return {
    ...rest,
    image,
    port,
    command,
    args: Object.fromEntries(Object.entries(args).map(([name, arg]) => [name, argOf(arg)])),
    env_allow: read.env_allow ?? [],
    env: { ...env, ...(keyEnv !== undefined && { [keyEnv]: '{instance_key}' }) },
    ready: { path: ready?.path ?? DEFAULT_HEALTH, timeout_seconds: ready?.timeout_seconds ?? DEFAULT_READY_SECONDS },
    stop: {
      drain: stop?.drain ?? 'gateway',
      grace_seconds: stop?.grace_seconds ?? (stop?.drain_seconds ?? DEFAULT_DRAIN_SECONDS) + AFTER_DRAIN_SECONDS,
    },
    ...(gpus && { gpus }),
    unit: unit?.kind === 'leaderworkerset' ? { kind: unit.kind, size: unit.size ?? 0 } : { kind: 'deployment' },
    resources: read.resources ?? {},
    allow: allowanceOf(read.allow),
  };
}

function argOf(arg: string | string[] | ArgConfig): ArgConfig {
  return typeof arg === 'string' || Array.isArray(arg) ? { arg } : arg;
}

/** Combines `gpus` and `allow.count`: what the engine can do, limited to what a revision may request. */
function gpusOf({ gpus, allow }: WrittenEngine): KubernetesEngine['gpus'] {
  const { fixed, max } = allow?.count ?? {};
  if (!gpus && (allow?.accelerators ?? []).length === 0 && !allow?.count) return undefined;
  const most = Math.min(fixed ?? max ?? gpus?.max ?? 1, gpus?.max ?? Infinity);
  return { min: fixed ?? gpus?.min ?? 1, max: most, share: 'exclusive' };
}

function allowanceOf({
  accelerators = [],
  count,
  memory_mb: memory,
  max_replicas: replicas,
}: NonNullable<WrittenEngine['allow']> = {}): Allowance {
  return {
    accelerators,
    ...(count?.arg !== undefined && { count_arg: [count.arg].flat() }),
    ...(memory && { memory_mb: memory }),
    ...(replicas !== undefined && { max_replicas: replicas }),
  };
}

function podPart(reader: ConfigReader, path: string, value: unknown): PodPart {
  return value === undefined ? {} : reader.map(path, value);
}

function isMapping(value: unknown): value is Bag {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
