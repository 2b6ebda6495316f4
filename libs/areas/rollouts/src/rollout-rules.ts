import type { RevisionSpec } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { quotasOf, type QuotaConfig } from '@slipway/platform-config';
import { digestOf, type Tx } from '@slipway/platform-database';
import { operationErrors } from '@slipway/platform-durable/operations';
import { quotaExceeded } from '@slipway/platform-durable/quotas';
import {
  errors,
  mergePatch,
  newFindings,
  readObject,
  warnUnknown,
  type FieldIssue,
  type Principal,
} from '@slipway/platform-http';
import type { Deployment } from '@slipway/ports/deployment-records';
import { INSTANCES, type InstancesPort } from '@slipway/ports/instances';
import { RevisionSpecDto, type Revision } from '@slipway/ports/revisions';
import type { CheckedRollout, RolloutsPort } from '@slipway/ports/rollouts';
import { RolloutDto } from './rollout.dto.js';
import { rolloutErrors } from './rollout.errors.js';
import type { Strategy } from './rollout.input.js';

/*
 * The rules by which a rollout is accepted, and the spec that its body makes. `RolloutCheck` offers them to other areas.
 */

/** Whether a rollout may begin on this deployment. Throws the conflict that forbids it. */
export function assertRolloutAllowed(deployment: Pick<Deployment, 'state' | 'currentOperationId' | 'name'>): void {
  if (deployment.state === 'deleting')
    throw operationErrors.operation_in_progress({ message: `Deployment ${deployment.name} is being deleted.` });
  if (deployment.currentOperationId === null) return;
  throw operationErrors.operation_in_progress({
    message: `Operation ${deployment.currentOperationId} is running on deployment ${deployment.name}.`,
    extra: { operation_id: deployment.currentOperationId },
  });
}

/**
 * Whether a deployment's protection lets a rollout begin, or begin again, that executes this plan or none. A plan starts from an active
 * revision, so the first one comes without. Throws `plan_required` (409).
 */
export function assertAdmitted(
  { name, protection, activeRevisionId }: Pick<Deployment, 'name' | 'protection' | 'activeRevisionId'>,
  planId: string | null | undefined,
): void {
  if (protection.rollouts === 'any' || activeRevisionId === null || planId) return;
  const message = `Deployment ${name} takes only rollouts of an approved plan: its protection.rollouts is ${protection.rollouts}.`;
  throw rolloutErrors.plan_required({ message, details: [{ field: 'plan_id', code: 'required', message }] });
}

/** Whether the active revision is the one the client believes it to be. Throws `precondition_failed` (412). */
export function assertActiveRevision(
  expected: string | undefined,
  active: { id: string; name: string; number: number } | undefined,
): void {
  if (expected === undefined) return;
  if (active && [active.id, active.name, String(active.number)].includes(expected)) return;
  throw errors.precondition_failed({ message: `The active revision is ${active?.name ?? 'none'}, not ${expected}.` });
}

/** @throws validation_failed (422) */
export function assertKeepsNothing({ type }: Strategy, { keep_previous_seconds: kept = 0 }: RolloutDto): void {
  if (type !== 'recreate' || kept === 0) return;
  const message =
    'recreate stops the previous revision for its room, so it cannot stay warm: leave keep_previous_seconds out or send 0; strategy auto keeps it where there is room';
  throw errors.validation_failed({ details: [{ field: 'keep_previous_seconds', code: 'not_applicable', message }] });
}

/** What counts of a deployment and its tenant when a rollout is accepted. */
export interface QuotaCounts {
  reused: Revision | undefined;
  /** Revisions of the deployment. */
  kept: number;
  /** Instances of the tenant, never less than are needed. */
  wanted: number;
  /** Instances that the candidate begins with, and that are stopped before its start. */
  replicas: number;
  freed: number;
}

/**
 * The deployment's lock makes the count of its revisions exact. That of instances is not: between rollouts of several deployments that
 * are accepted at once, the lock in `want` decides. A revision that runs already adds no instances.
 * @throws quota_exceeded (429)
 */
export async function assertWithinQuotas(
  tx: Tx,
  { config, instances }: { config: QuotaConfig; instances: InstancesPort },
  { tenantId, tenantName }: Principal,
  found: QuotaCounts,
): Promise<void> {
  const limits = quotasOf(config, tenantName);
  if (!found.reused && found.kept >= limits.revisions) throw quotaExceeded('revisions', limits.revisions);
  const more = found.replicas - found.freed;
  if (found.wanted + more <= limits.instances) return;
  const needed = await instances.needed(tx, tenantId, found.reused?.id);
  if (needed + more > limits.instances) throw quotaExceeded('instances', limits.instances);
}

/** The spec that a patch makes of a base, checked like one that was sent whole. Throws `validation_failed` (422). */
export function patchedSpec(base: RevisionSpec, patch: Record<string, unknown>, path = 'spec_patch'): RevisionSpec {
  const findings = newFindings();
  const dto = readObject(RevisionSpecDto, mergePatch(base, patch) as object, path, findings) as RevisionSpecDto;
  warnUnknown(findings.unknown);
  const details = [...findings.mistyped, ...findings.broken];
  if (details.length > 0) throw errors.validation_failed({ details });
  return completeSpec(dto);
}

/** A spec with every default written out, so that equal deployments have equal digests. */
export function completeSpec(dto: RevisionSpecDto): RevisionSpec {
  return withoutUndefined({
    model: { ...dto.model },
    runtime: {
      target: dto.runtime.target,
      engine: dto.runtime.engine,
      args: dto.runtime.args ?? {},
      env: dto.runtime.env ?? {},
    },
    endpoint: dto.endpoint && { ...dto.endpoint },
    resources: dto.resources && { ...dto.resources },
    scaling: { ...dto.scaling, min_replicas: dto.scaling?.min_replicas ?? 1 },
    probes: dto.probes && { ...dto.probes },
  }) as RevisionSpec;
}

function withoutUndefined(value: unknown): unknown {
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(kept.map(([key, member]) => [key, withoutUndefined(member)]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Judges rollout bodies for other areas, with the rules that a rollout itself is accepted by. */
@Injectable()
export class RolloutCheck implements RolloutsPort {
  constructor(@Inject(INSTANCES) private readonly instances: InstancesPort) {}

  async check(tx: Tx, tenantId: string, body: object, base: Revision, within: string): Promise<CheckedRollout> {
    const rollout = read(body, within);
    const isBase =
      rollout.base_revision === undefined || [base.id, base.name, String(base.number)].includes(rollout.base_revision);
    if (!isBase)
      refuse([{ field: `${within}.base_revision`, code: 'not_base', message: `base_revision is not ${base.name}` }]);
    const spec = rollout.spec
      ? completeSpec(rollout.spec)
      : patchedSpec(base.spec, rollout.spec_patch ?? {}, `${within}.spec_patch`);
    const path = `${within}.${rollout.spec ? 'spec' : 'spec_patch'}`;
    const issues = await this.instances.check(tx, tenantId, spec);
    refuse(issues.map((issue) => ({ ...issue, field: `${path}.${issue.field}` })));
    return { body: JSON.parse(JSON.stringify(rollout)) as Record<string, unknown>, spec, specDigest: digestOf(spec) };
  }
}

function read(body: object, within: string): RolloutDto {
  const findings = newFindings();
  const rollout = readObject(RolloutDto, body, within, findings) as RolloutDto;
  warnUnknown(findings.unknown);
  if (findings.mistyped.length > 0) throw errors.invalid_parameter({ details: findings.mistyped });
  refuse(findings.broken);
  return rollout;
}

function refuse(details: FieldIssue[]): void {
  if (details.length > 0) throw errors.validation_failed({ details });
}
