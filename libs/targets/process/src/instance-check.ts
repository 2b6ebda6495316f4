import type { InstanceSpec, SpecIssue } from '@slipway/target-driver';
import { SAFE_NAME, type EngineTemplate } from './engine-template.js';

const PATH = /^\/[\x21-\x7e]*$/;

/** Every rule of the target that a spec breaks, with those of the engine that it names. */
export function instanceIssues(
  target: string,
  templates: ReadonlyMap<string, EngineTemplate>,
  spec: InstanceSpec,
): SpecIssue[] {
  const issues: SpecIssue[] = [];
  if (!SAFE_NAME.test(spec.instanceId))
    issues.push({ field: 'instance_id', code: 'invalid_value', message: 'must match [A-Za-z0-9_-]{1,128}' });
  if (!Number.isSafeInteger(spec.generation) || spec.generation < 1)
    issues.push({ field: 'generation', code: 'invalid_value', message: 'must be a positive integer' });
  if (spec.endpoint)
    issues.push({ field: 'endpoint', code: 'not_applicable', message: `target "${target}" starts its servers itself` });
  if (spec.probe.path !== undefined && !PATH.test(spec.probe.path)) {
    const message = 'must begin with "/" and consist of visible ASCII characters';
    issues.push({ field: 'probes.path', code: 'invalid_value', message });
  }
  const engine = templates.get(spec.runtime.engine ?? '');
  if (engine) return [...issues, ...engine.check(spec)];
  const known = [...templates.keys()].join(', ');
  const code = spec.runtime.engine === undefined ? 'required' : 'unknown';
  return [...issues, { field: 'runtime.engine', code, message: `target "${target}" has the engines: ${known}` }];
}
