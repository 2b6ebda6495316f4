import type { InstanceSpec, InstanceSpecIssue } from '@slipway/target-driver';
import type { Accelerator, KubernetesEngine, KubernetesTargetConfig } from '../target-config.js';

type ResourceRequest = Pick<InstanceSpec, 'resources'>;

/** `resources` of a container. */
export interface Amounts {
  requests?: Record<string, string>;
  limits?: Record<string, string>;
}

/**
 * The name of the accelerator that a spec gets; undefined for none. If there is only one kind, the spec need not name
 * it.
 */
export function acceleratorName({ resources }: ResourceRequest, engine: KubernetesEngine): string | undefined {
  const { accelerator, count } = resources ?? {};
  const [only, ...others] = engine.allow.accelerators;
  if (accelerator !== undefined) return accelerator;
  const wantsOne = (count ?? engine.gpus?.min ?? 0) > 0;
  return wantsOne && others.length === 0 ? only : undefined;
}

/** The number of accelerators that a spec gets. */
export function acceleratorCount({ resources }: ResourceRequest, engine: KubernetesEngine): number {
  if (acceleratorName({ resources }, engine) === undefined) return 0;
  return resources?.count ?? Math.max(1, engine.gpus?.min ?? 1);
}

/** The resources of a container that a spec requests. They override the operator's. */
export function grantedAmounts(
  spec: ResourceRequest,
  engine: KubernetesEngine,
  config: KubernetesTargetConfig,
): Amounts {
  const memory = spec.resources?.memory_mb;
  const accelerator = acceleratorOf(spec, engine, config);
  const amounts: Record<string, string> = {
    ...(memory !== undefined && { memory: `${memory}Mi` }),
    ...(accelerator && { [accelerator.resource]: String(acceleratorCount(spec, engine)) }),
  };
  // Requests and limits are equal, so no container gets more than is reserved for it.
  return Object.keys(amounts).length === 0 ? {} : { requests: amounts, limits: amounts };
}

/** The accelerator that a spec gets. */
export function acceleratorOf(
  spec: ResourceRequest,
  engine: KubernetesEngine,
  { accelerators }: KubernetesTargetConfig,
): Accelerator | undefined {
  const name = acceleratorName(spec, engine);
  return name !== undefined && Object.hasOwn(accelerators, name) ? accelerators[name] : undefined;
}

/** Every rule on resources that a spec breaks. */
export function resourceIssues(
  { name: engineName, engine }: { name: string; engine: KubernetesEngine },
  config: KubernetesTargetConfig,
  spec: ResourceRequest,
): InstanceSpecIssue[] {
  const issues: InstanceSpecIssue[] = [];
  const add = (field: string, code: InstanceSpecIssue['code'], message: string) =>
    issues.push({ field: `resources.${field}`, code, message });
  const { accelerator, count, memory_mb: memory } = spec.resources ?? {};
  const { accelerators: allowed, memory_mb: most } = engine.allow;
  const names = allowed.join(', ') || 'none';
  if (accelerator !== undefined && !allowed.includes(accelerator))
    add('accelerator', 'not_allowed', `engine "${engineName}" runs on these accelerators: ${names}`);
  else if (acceleratorName(spec, engine) === undefined && (count ?? engine.gpus?.min ?? 0) > 0 && allowed.length > 0)
    add('accelerator', 'required', `engine "${engineName}" runs on these accelerators: ${names}`);
  if (count !== undefined) issues.push(...countIssues(engineName, engine, config, spec, count));
  if (memory === undefined) return issues;
  if (!most) add('memory_mb', 'not_allowed', memoryNotAllowed(engineName, engine));
  else if (!isWhole(memory, 1, most.max))
    add(
      'memory_mb',
      'invalid_value',
      `must be a whole number of MiB from 1 to ${most.max}, which is allow.memory_mb.max of engine "${engineName}"`,
    );
  return issues;
}

function memoryNotAllowed(name: string, { resources: { limits, requests } }: KubernetesEngine): string {
  const memory = limits?.['memory'] ?? requests?.['memory'];
  const own = memory === undefined ? 'no limit of memory' : `${memory} of memory`;
  return `engine "${name}" has ${own} for each pod, and a revision may not change it: omit memory_mb, or set allow.memory_mb.max of the engine in the configuration of the target`;
}

function countIssues(
  name: string,
  engine: KubernetesEngine,
  config: KubernetesTargetConfig,
  spec: ResourceRequest,
  count: number,
): InstanceSpecIssue[] {
  const field = 'resources.count';
  if (!engine.gpus)
    return count === 0 ? [] : [{ field, code: 'not_applicable', message: `engine "${name}" uses no accelerators` }];
  const most = Math.min(engine.gpus.max, acceleratorOf(spec, engine, config)?.max_count ?? Infinity);
  const least = spec.resources?.accelerator === undefined ? engine.gpus.min : Math.max(1, engine.gpus.min);
  if (isWhole(count, least, most)) return [];
  const range = least === most ? `${least}` : `from ${least} to ${most}`;
  return [{ field, code: 'invalid_value', message: `must be ${range} for engine "${name}"` }];
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && value >= least && value <= most;
}
