import type { EngineTraits } from '../driver.js';
import { placeholdersIn, provableIdentity, type PlaceholderValues } from './placeholders.js';
import type { LiveConfig, TemplateConfig } from './template-config.js';

/** Where an engine does not say how long it may take to its first answer. */
export const DEFAULT_READY_SECONDS = 60;

/** What callers must know of an engine, but how many accelerators it takes and whether it asks for a key. */
export function templateTraits(
  { serves = ['chat'], unknown_model: unknownModel = 'rejects', identity = [], live, ready, stop }: TemplateConfig,
  values: PlaceholderValues,
): Omit<EngineTraits, 'gpus' | 'isKeyed' | 'memoryFreeWithinSeconds'> {
  return {
    serves,
    unknownModel,
    identity: provableIdentity(identity, values),
    readyTimeoutSeconds: ready?.timeout_seconds ?? DEFAULT_READY_SECONDS,
    ...(live && { live: liveOf(live) }),
    drain: stop?.drain ?? 'gateway',
  };
}

const placeholders = new WeakMap<object, ReadonlySet<string>>();

/** All that a start fills in. Asked at every rollout and read once: nobody changes a template. */
export function placeholdersOf(template: Pick<TemplateConfig, 'command' | 'env'>): ReadonlySet<string> {
  const { command, env = {} } = template;
  const found =
    placeholders.get(template) ?? new Set([...command.flat(), ...Object.values(env)].flatMap(placeholdersIn));
  placeholders.set(template, found);
  return found;
}

/** As a driver's callers name it. */
export function liveOf(live: LiveConfig): NonNullable<EngineTraits['live']> {
  const { path, interval_seconds, timeout_seconds, failure_threshold } = live;
  return {
    ...(path !== undefined && { path }),
    ...(interval_seconds !== undefined && { intervalSeconds: interval_seconds }),
    ...(timeout_seconds !== undefined && { timeoutSeconds: timeout_seconds }),
    ...(failure_threshold !== undefined && { failureThreshold: failure_threshold }),
  };
}
