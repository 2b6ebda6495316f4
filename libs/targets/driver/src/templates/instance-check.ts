import type { InstanceSpec, InstanceSpecIssue } from '../driver.js';

/** Of a target or an instance: it becomes a part of names that others read. */
export const SAFE_NAME = /^[A-Za-z0-9_-]{1,128}$/;
const PATH = /^\/[\x21-\x7e]*$/;

/** Every rule that a spec breaks on any target that starts its servers itself, whichever engine it names. */
export function instanceIssues(target: string, spec: InstanceSpec): InstanceSpecIssue[] {
  const issues: InstanceSpecIssue[] = [];
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
  return issues;
}

/** That a spec names no engine of its target. */
export function engineIssue(target: string, engines: Iterable<string>, { runtime }: InstanceSpec): InstanceSpecIssue {
  const code = runtime.engine === undefined ? 'required' : 'unknown';
  return { field: 'runtime.engine', code, message: `target "${target}" has the engines: ${[...engines].join(', ')}` };
}
