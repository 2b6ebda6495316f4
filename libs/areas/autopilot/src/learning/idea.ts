import type { RevisionSpec } from '@slipway/contracts';
import { digestOf } from '@slipway/platform-database';
import type { FailedIdea, PlanChangeDto } from '@slipway/ports/plans';
import type { PolicyContent } from '@slipway/ports/policies';
import { pointerOf } from '../plans/plan-changes.js';
import type { Proposal, Situation } from '../rounds/situation.js';

/**
 * Returns a key that is equal for plans that try the same on the same service: the changed values, and everything that
 * decides their effect. The value before the change does not.
 */
export function ideaKeyOf(
  changes: readonly Pick<PlanChangeDto, 'path' | 'value'>[],
  { model, runtime, resources }: RevisionSpec,
  policy: Pick<PolicyContent, 'workload'> | undefined,
  engineVersion: string | null,
): string {
  const values = changes.map(({ path, value }) => [pointerOf(path), value ?? null] as const);
  return digestOf({
    changes: values.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
    engine: runtime.engine ?? null,
    engine_version: engineVersion,
    target: runtime.target,
    accelerator: resources?.accelerator ?? null,
    model: JSON.parse(JSON.stringify(model)),
    workload: policy?.workload?.profile ?? null,
  });
}

/** Why an idea is not proposed again yet. */
export interface IdeaBar {
  message: string;
  until: Date;
}

/** Returns the earlier plan that speaks against a proposal, in a sentence; undefined if there is none. */
export function barOf(
  { changes }: Pick<Proposal, 'changes'>,
  { spec, policy, engineVersion, failedIdeas }: Pick<Situation, 'spec' | 'policy' | 'engineVersion' | 'failedIdeas'>,
): IdeaBar | undefined {
  const key = ideaKeyOf(changes, spec, policy, engineVersion);
  const failed = failedIdeas.find((one) => one.key === key);
  if (!failed) return undefined;
  const until = new Date(failed.at.getTime() + policy.evidence.max_age_seconds * 1_000);
  return {
    until,
    message: `Plan ${failed.planId} with the same changes ${REASONS[failed.result]}. They are proposed again after ${until.toISOString()}, or once the model, the engine or its configuration, the target, the accelerator or the workload profile changes.`,
  };
}

const REASONS: Record<FailedIdea['result'], string> = {
  worse: 'made the service worse',
  no_effect: 'had no effect',
  rejected: 'was rejected',
};
