import {
  declaredArgs,
  fillPlaceholders,
  fillCommand,
  modelValues,
  placeholdersIn,
  placeholdersOf,
  type InstanceSpec,
  type PlaceholderValues,
  type TemplateConfig,
} from '@slipway/target-driver';
import type { EnvVar, Secret } from '../api/objects.js';
import {
  drainSeconds,
  engineOf,
  namespaceFor,
  type KubernetesEngine,
  type KubernetesTargetConfig,
} from '../target-config.js';
import { unitAnnotations, unitLabels, type Writer } from './unit-labels.js';
import { unitName } from './unit-names.js';
import { acceleratorCount } from './unit-resources.js';

/** Contains the engine's key for a command or a text that consists of more than the key. */
const KEY_VARIABLE = 'SLIPWAY_INSTANCE_KEY';
const KEY_ENTRY = 'instance-key';
const KEY = '{instance_key}';

/** The environment of a unit: variables of its pod, and the contents of its Secret. */
export interface UnitEnvironment {
  env: EnvVar[];
  /** Plain texts by the Secret's keys. */
  secret: Record<string, string>;
}

/**
 * Escapes a text so that the kubelet does not change it. The kubelet replaces `$(NAME)` by variables, so a client could
 * read a secret by its name. It makes one `$` of two, and expands nothing after them.
 */
export function literal(text: string): string {
  return text.replaceAll('$', () => '$$');
}

/** Whether the engine refuses requests without its key. */
export function isKeyed(engine: Pick<KubernetesEngine, 'command' | 'worker_command' | 'env'>): boolean {
  const { command, worker_command: worker = [], env } = engine;
  return placeholdersOf({ command: [...command, ...worker], env }).has('instance_key');
}

/** Program and arguments of a spec that `check` accepted, in the fields of a container. */
export function commandOf(spec: InstanceSpec, engine: KubernetesEngine): { command: string[]; args: string[] } {
  const count = acceleratorCount(spec, engine);
  const { args: given } = spec.runtime;
  const declared = declaredArgs(engine).flatMap((arg) =>
    arg.elementsFor(Object.hasOwn(given, arg.name) ? given[arg.name] : undefined, literal),
  );
  const counted = count === 0 ? [] : (engine.allow.count_arg ?? []).map((one) => one.replace('{}', String(count)));
  return { command: fillCommand(engine.command, valuesOf(spec, engine)), args: [...counted, ...declared] };
}

/** The same for the pods of a group that do not lead. */
export function workerCommandOf(spec: InstanceSpec, engine: KubernetesEngine): { command: string[]; args: string[] } {
  const { worker_command: command } = engine;
  if (!command) return commandOf(spec, engine);
  return { command: fillCommand(command, valuesOf(spec, engine)), args: [] };
}

/** The values of placeholders. The kubelet expands nothing in them except the key, which is in the Secret. */
function valuesOf(spec: InstanceSpec, engine: KubernetesEngine): PlaceholderValues {
  const count = acceleratorCount(spec, engine);
  return new Map([
    ...modelValues(spec).map(([name, value]): [string, string] => [name, literal(value)]),
    ['port', String(engine.port)],
    ['drain', String(drainSeconds(engine))],
    ['instance_key', `$(${KEY_VARIABLE})`],
    ...(count > 0 ? [['gpu.count', String(count)] as [string, string]] : []),
  ]);
}

/**
 * The environment of a spec that `check` accepted: the engine's variables, overridden by those of the revision.
 * @throws Error if the engine needs a key and the caller gave none
 */
export function environmentOf(spec: InstanceSpec, config: KubernetesTargetConfig): UnitEnvironment {
  const engine = engineOf(config, spec.runtime.engine);
  const name = unitName(spec);
  const values = valuesOf(spec, engine);
  const secret: Record<string, string> = {};
  const hidden = (variable: string, entry: string, value: string): EnvVar => {
    secret[entry] = value;
    return { name: variable, valueFrom: { secretKeyRef: { name, key: entry } } };
  };
  const key = keyOf(spec, engine);
  // First, because a variable can only refer to variables before it.
  const env: EnvVar[] = key !== undefined && isKeyWithin(engine) ? [hidden(KEY_VARIABLE, KEY_ENTRY, key)] : [];
  for (const [variable, text] of Object.entries(engine.env)) {
    const value = text === KEY ? undefined : fillPlaceholders(text, values);
    if (key !== undefined && text === KEY) env.push(hidden(variable, KEY_ENTRY, key));
    if (value !== undefined) env.push({ name: variable, value });
  }
  const { env: given, envRefs = {} } = spec.runtime;
  const own = [
    ...Object.entries(given)
      .filter(([variable]) => !Object.hasOwn(envRefs, variable))
      .map(([variable, value]) =>
        config.secrets === 'managed'
          ? hidden(variable, `env.${variable}`, value)
          : { name: variable, value: literal(value) },
      ),
    ...Object.entries(envRefs).map(([variable, { secret: of, key: entry }]) => ({
      name: variable,
      valueFrom: { secretKeyRef: { name: of, key: entry } },
    })),
  ];
  const isOverridden = new Set(own.map((one) => one.name));
  return { env: [...env.filter((one) => !isOverridden.has(one.name)), ...own], secret };
}

/**
 * The secrets of a unit's pods, under the unit's name and immutable. Undefined if there are none. The unit is the
 * owner, and its uid is known only after its creation: the kubelet waits for the Secret until then.
 */
export function secretOf(spec: InstanceSpec, config: KubernetesTargetConfig, writer: Writer): Secret | undefined {
  const { secret } = environmentOf(spec, config);
  const entries = Object.entries(secret);
  if (entries.length === 0) return undefined;
  const annotations = unitAnnotations(spec.instanceId);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: unitName(spec),
      namespace: namespaceFor(config, spec.tenantName),
      labels: unitLabels(spec, config, writer),
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    type: 'Opaque',
    immutable: true,
    data: Object.fromEntries(entries.map(([entry, text]) => [entry, Buffer.from(text).toString('base64')])),
  };
}

function keyOf({ runtime, instanceKey }: InstanceSpec, engine: KubernetesEngine): string | undefined {
  if (!isKeyed(engine)) return undefined;
  if (instanceKey === undefined)
    throw new Error(`engine "${runtime.engine}" requires {instance_key}, but no key was given`);
  return instanceKey;
}

/** Whether the key is within other text, or on a command line. */
function isKeyWithin({ command, worker_command: worker = [], env }: KubernetesEngine): boolean {
  const texts: TemplateConfig['command'] = [
    ...command,
    ...worker,
    ...Object.values(env).filter((text) => text !== KEY),
  ];
  return texts.flat().some((text) => placeholdersIn(text).includes('instance_key'));
}
