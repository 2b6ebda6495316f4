import type { EngineConfig } from '../engine-config.js';

/** A template that ships with the product, written as the operator's file would have it. */
export interface BuiltInEngine extends EngineConfig {
  /** `<name>@<version>`. What would break those who extend it is another version, and stands beside this one. */
  template: string;
  model_sources: string[];
}

/** What all of them have; `engine_defaults` of a target go over it, and what a template says itself over those. */
export const BUILT_IN_DEFAULTS = {
  cwd: '{instance.dir}',
  limits: { nofile: 65_536, core_mb: 0 },
  env: {
    PYTHONUNBUFFERED: '1',
    // Engines start offline: fetching is a step of its own, with a limit and a token of its own.
    HF_HUB_OFFLINE: '1',
    HF_HOME: '{home}/hf',
    DO_NOT_TRACK: '1',
    NO_COLOR: '1',
  },
  live: { path: '/health', interval_seconds: 5, timeout_seconds: 5, failure_threshold: 6 },
  stop: { signal: 'SIGTERM', to: 'leader', grace_seconds: 60, drain: 'engine', memory_free_within_seconds: 30 },
} satisfies Omit<EngineConfig, 'command'>;

/** Into the cache that engines read offline; only what is named by a hub id is fetched. */
export const HUB_DOWNLOAD = {
  command: ['hf', 'download', '{model.uri}', ['--revision={model.revision}']],
  env: { HF_HUB_OFFLINE: '0' },
  timeout_seconds: 7_200,
} satisfies EngineConfig['prefetch'];
