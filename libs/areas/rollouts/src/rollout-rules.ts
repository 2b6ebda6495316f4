import { Inject, Injectable } from '@nestjs/common';
import { digestOf, type Tx } from '@slipway/platform-database';
import { errors, newFindings, readObject, warnUnknown, type FieldIssue } from '@slipway/platform-http';
import { INSTANCES, type InstancesPort } from '@slipway/ports/instances';
import type { CheckedRollout, RolloutsPort } from '@slipway/ports/rollouts';
import type { Revision } from '@slipway/ports/revisions';
import { completeSpec, patchedSpec } from './candidate-spec.js';
import { RolloutDto } from './rollout.dto.js';

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
    const place = `${within}.${rollout.spec ? 'spec' : 'spec_patch'}`;
    const issues = await this.instances.check(tx, tenantId, spec);
    refuse(issues.map((issue) => ({ ...issue, field: `${place}.${issue.field}` })));
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
