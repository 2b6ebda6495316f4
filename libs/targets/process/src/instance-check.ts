import { engineIssue, instanceIssues as ownIssues, type InstanceSpec, type SpecIssue } from '@slipway/target-driver';
import type { EngineTemplate } from './engine-template.js';

/** Every rule of the target that a spec breaks, with those of the engine that it names. */
export function instanceIssues(
  target: string,
  templates: ReadonlyMap<string, EngineTemplate>,
  spec: InstanceSpec,
): SpecIssue[] {
  const engine = templates.get(spec.runtime.engine ?? '');
  return [...ownIssues(target, spec), ...(engine?.check(spec) ?? [engineIssue(target, templates.keys(), spec)])];
}
