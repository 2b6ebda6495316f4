import { modelValues, placeholdersIn, provable, type EngineTraits, type InstanceSpec } from '@slipway/target-driver';
import type { EngineConfig, LiveConfig } from './engine-config.js';

/** Where an engine does not say how long it may take to its first answer. */
export const DEFAULT_READY_SECONDS = 60;

/** What callers must know of an engine that is to run a spec. @param home what `{home}` stands for */
export function traitsOf(config: EngineConfig, spec: Pick<InstanceSpec, 'model'>, home: string): EngineTraits {
  const { serves = ['chat'], unknown_model: unknownModel = 'rejects', identity = [], gpus, live, ready, stop } = config;
  return {
    serves,
    unknownModel,
    identity: provable(identity, new Map([...modelValues(spec), ['home', home]])),
    ...(gpus && { gpus, memoryFreeWithinSeconds: stop?.memory_free_within_seconds ?? 30 }),
    readyTimeoutSeconds: ready?.timeout_seconds ?? DEFAULT_READY_SECONDS,
    ...(live && { live: liveOf(live) }),
    isKeyed: placeholdersOf(config).has('instance_key'),
    drain: stop?.drain ?? 'gateway',
  };
}

/** All that a start fills in. */
export function placeholdersOf({ command, env = {} }: Pick<EngineConfig, 'command' | 'env'>): ReadonlySet<string> {
  return new Set([...command.flat(), ...Object.values(env)].flatMap(placeholdersIn));
}

function liveOf(live: LiveConfig): NonNullable<EngineTraits['live']> {
  const { path, interval_seconds, timeout_seconds, failure_threshold } = live;
  return {
    ...(path !== undefined && { path }),
    ...(interval_seconds !== undefined && { intervalSeconds: interval_seconds }),
    ...(timeout_seconds !== undefined && { timeoutSeconds: timeout_seconds }),
    ...(failure_threshold !== undefined && { failureThreshold: failure_threshold }),
  };
}
