import type { InstanceDevices } from '@slipway/contracts';
import {
  declaredArgs,
  modelValues,
  templateTraits,
  type EngineDescription,
  type EngineTraits,
  type InstanceSpec,
} from '@slipway/target-driver';
import { engineOf, type KubernetesTargetConfig } from '../target-config.js';
import { isKeyed } from '../manifests/unit-environment.js';
import { acceleratorCount, acceleratorName } from '../manifests/unit-resources.js';
import { probesOf } from '../manifests/unit-probes.js';

/** Describes one engine of a target, as `GET /targets` shows it. */
export function describeEngine(config: KubernetesTargetConfig, name: string): EngineDescription {
  const engine = engineOf(config, name);
  const args = declaredArgs(engine);
  return {
    name,
    args: args.map((arg) => arg.name),
    env: [...engine.env_allow],
    declared: args.map((arg) => arg.describe()),
  };
}

/**
 * The traits of the engine that a spec names. Undefined if the target does not have that engine. Accelerators are not
 * included, because the scheduler assigns them.
 */
export function engineTraits(
  { engines }: KubernetesTargetConfig,
  spec: Pick<InstanceSpec, 'model' | 'runtime'>,
): EngineTraits | undefined {
  const name = spec.runtime.engine ?? '';
  const engine = Object.hasOwn(engines, name) ? engines[name] : undefined;
  return (
    engine && { ...templateTraits(engine, new Map(modelValues(spec)), spec.runtime.args), isKeyed: isKeyed(engine) }
  );
}

/** The accelerators of one instance, of all its pods together. Undefined if the target does not have the engine. */
export function instanceDevices(
  { engines }: KubernetesTargetConfig,
  spec: Pick<InstanceSpec, 'runtime' | 'resources'>,
): InstanceDevices | undefined {
  const name = spec.runtime.engine ?? '';
  const engine = Object.hasOwn(engines, name) ? engines[name] : undefined;
  if (!engine) return undefined;
  const pods = engine.unit.kind === 'leaderworkerset' ? engine.unit.size : 1;
  return { accelerator: acceleratorName(spec, engine) ?? null, count: pods * acceleratorCount(spec, engine) };
}

/**
 * The path of an engine's readiness probe, as the kubelet requests it.
 * @throws Error if the target does not have the engine
 */
export function probePathOf(config: KubernetesTargetConfig, spec: InstanceSpec): string {
  return probesOf(spec, engineOf(config, spec.runtime.engine)).readinessProbe.httpGet.path;
}

/** Settings of a target that are allowed but not recommended, a sentence each. */
export function targetWarnings({ engines, reach, inference_pool: pool }: KubernetesTargetConfig): string[] {
  return Object.entries(engines).flatMap(([name, engine]) => [
    ...(reach === 'pod' && !isKeyed(engine)
      ? [
          `engine "${name}" does not require a key: if another pod gets the address of a deleted pod, requests can reach the wrong pod; set key_env`,
        ]
      : []),
    ...(pool && isKeyed(engine)
      ? [
          `engine "${name}" requires a key that only Slipway's gateways have (key_env): requests through its InferencePool get 401`,
        ]
      : []),
    ...(/@sha256:[0-9a-f]{64}$/.test(engine.image)
      ? []
      : [
          `engine "${name}" names its image by a tag, which can later point to another image; use a digest (name@sha256:…)`,
        ]),
  ]);
}
