import {
  argIssues,
  environmentIssues,
  gpuIssues,
  modelIssues,
  type CheckedTemplate,
  type InstanceSpec,
  type InstanceSpecIssue,
} from '@slipway/target-driver';
import type { EngineConfig } from './engine-config.js';
import type { ModelSources } from './model-sources.js';

/** An engine as a spec is checked against it. */
export interface CheckedEngine extends CheckedTemplate {
  config: EngineConfig;
  /** Undefined where the operator names none. */
  sources?: ModelSources;
}

/** Every rule of its engine that a spec breaks. Pure: no file, no network. */
export function processSpecIssues(engine: CheckedEngine, spec: InstanceSpec): InstanceSpecIssue[] {
  const { config, sources } = engine;
  return [
    ...modelIssues(engine, spec, {
      filled: config.prefetch ? [config.prefetch] : [],
      refusalOf: (uri) => sources?.problemOf(uri),
    }),
    ...argIssues(engine, spec),
    ...environmentIssues(engine, spec),
    ...gpuIssues(engine, spec),
  ];
}
