import {
  engineIssue,
  instanceIssues as ownIssues,
  type InstanceSpec,
  type InstanceSpecIssue,
} from '@slipway/target-driver';
import type { EngineTemplate } from './templates/engine-template.js';

/** Every rule of the target that a spec breaks, with those of the engine that it names. */
export function processInstanceIssues(
  target: string,
  templates: ReadonlyMap<string, EngineTemplate>,
  spec: InstanceSpec,
): InstanceSpecIssue[] {
  const engine = templates.get(spec.runtime.engine ?? '');
  return [...ownIssues(target, spec), ...(engine?.check(spec) ?? [engineIssue(target, templates.keys(), spec)])];
}
