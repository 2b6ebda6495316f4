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
import { probesOf } from '../manifests/unit-probes.js';

/** One engine of a target, as `GET /targets` shows it. */
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
 * What callers must know of the engine that a spec names; undefined for one that the target does not have. Accelerators are no part of it: the
 * scheduler hands them out.
 */
export function engineTraits(
  { engines }: KubernetesTargetConfig,
  spec: Pick<InstanceSpec, 'model' | 'runtime'>,
): EngineTraits | undefined {
  const name = spec.runtime.engine ?? '';
  const engine = Object.hasOwn(engines, name) ? engines[name] : undefined;
  return engine && { ...templateTraits(engine, new Map(modelValues(spec))), isKeyed: isKeyed(engine) };
}

/** Where an engine is asked whether it is ready, as the kubelet asks it. @throws Error for an engine that the target does not have */
export function probePathOf(config: KubernetesTargetConfig, spec: InstanceSpec): string {
  return probesOf(spec, engineOf(config, spec.runtime.engine)).readinessProbe.httpGet.path;
}

/** What of a target's configuration is allowed and better were not, a sentence each. */
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
