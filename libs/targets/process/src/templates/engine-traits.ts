import {
  modelValues,
  placeholdersOf,
  templateTraits,
  type EngineTraits,
  type InstanceSpec,
} from '@slipway/target-driver';
import type { EngineConfig } from './engine-config.js';

/** What callers must know of an engine that is to run a spec. @param home what `{home}` stands for */
export function processEngineTraits(
  config: EngineConfig,
  spec: Pick<InstanceSpec, 'model'>,
  home: string,
): EngineTraits {
  const { gpus, stop } = config;
  return {
    ...templateTraits(config, new Map([...modelValues(spec), ['home', home]])),
    ...(gpus && { gpus, memoryFreeWithinSeconds: stop?.memory_free_within_seconds ?? 30 }),
    isKeyed: placeholdersOf(config).has('instance_key'),
  };
}
