import type { EngineConfig } from '../engine-config.js';

/** A template that is part of the product, in the format of the operator's file. */
export interface BuiltInEngine extends EngineConfig {
  /** `<name>@<version>`. A change that would break engines that extend it becomes a new version next to this one. */
  template: string;
  model_sources: string[];
}

/**
 * The settings of all built-in engines; `engine_defaults` of a target override them, and the template itself overrides
 * those.
 */
export const BUILT_IN_DEFAULTS = {
  cwd: '{instance.dir}',
  limits: { nofile: 65_536, core_mb: 0 },
  env: {
    PYTHONUNBUFFERED: '1',
    // Engines start offline: fetching is a separate step with its own time limit and token.
    HF_HUB_OFFLINE: '1',
    HF_HOME: '{home}/hf',
    DO_NOT_TRACK: '1',
    NO_COLOR: '1',
  },
  live: { path: '/health', interval_seconds: 5, timeout_seconds: 5, failure_threshold: 6 },
  stop: { signal: 'SIGTERM', to: 'leader', grace_seconds: 60, drain: 'engine', memory_free_within_seconds: 30 },
} satisfies Omit<EngineConfig, 'command'>;

/** Downloads into the cache that engines read offline; only a model that is named by a hub id is fetched. */
export const HUB_DOWNLOAD = {
  command: ['hf', 'download', '{model.uri}', ['--revision={model.revision}']],
  env: { HF_HUB_OFFLINE: '0' },
  timeout_seconds: 7_200,
} satisfies EngineConfig['prefetch'];
