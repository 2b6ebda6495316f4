import type { ScalingSpec } from '@slipway/contracts';
import { coversKnob } from '../plans/plan-boundaries.js';
import type { SpecChange } from '../plans/plan-changes.js';
import type { Situation } from './situation.js';

/** The values of a spec that the autopilot may propose to change, in the order of the API. */
export const SCALING_KNOBS = ['min_replicas', 'max_replicas', 'target_in_flight'] as const;
export type ScalingKnob = (typeof SCALING_KNOBS)[number];
export type ScalingValues = Partial<Record<ScalingKnob, number>>;

/** The autopilot changes only this by itself: a policy must name other values. */
const DEFAULT_KNOBS = ['scaling.min_replicas'];

/** The reason why a plan cannot change these values. */
export type Obstacle =
  | { because: 'no_allowed_knob'; message: string }
  | { because: 'deployment_overrides'; message: string; request: { scaling: Partial<ScalingSpec> } };

/** Returns the first obstacle to a plan with these values; undefined if there is none. */
export function obstacleTo(
  values: ScalingValues,
  { policy, override, deploymentName }: Pick<Situation, 'policy' | 'override' | 'deploymentName'>,
): Obstacle | undefined {
  const names = Object.keys(values) as ScalingKnob[];
  const overridden = names.filter((name) => override?.[name] !== undefined);
  if (overridden.length > 0) {
    const request = { scaling: values };
    const path = `PATCH /api/v1/deployments/${deploymentName}`;
    const message = `The deployment overrides ${overridden.join(' and ')} of its revisions, so no plan can change that. Send ${path} with ${JSON.stringify(request)}.`;
    return { because: 'deployment_overrides', message, request };
  }
  const knobs = policy.experiment_budget.allowed_knobs ?? DEFAULT_KNOBS;
  const forbidden = names.filter((name) => !knobs.some((knob) => coversKnob(knob, ['scaling', name])));
  if (forbidden.length === 0) return undefined;
  const missing = forbidden.map((name) => `scaling.${name}`).join(' and ');
  return {
    because: 'no_allowed_knob',
    message: `experiment_budget.allowed_knobs does not allow ${missing}. Add ${forbidden.length === 1 ? 'it' : 'them'} to get a plan.`,
  };
}

/** A count above the maximum of the spec would be refused, so the maximum rises too. */
export function fixedCount({ spec }: Pick<Situation, 'spec'>, to: number): ScalingValues {
  const { max_replicas: most } = spec.scaling;
  return most !== undefined && most < to ? { min_replicas: to, max_replicas: to } : { min_replicas: to };
}

/** Returns the changes of a spec that lead to these values. */
export function changesTo(
  values: ScalingValues,
  { spec }: Pick<Situation, 'spec'>,
  rationale: string,
): Required<SpecChange>[] {
  return Object.entries(values).map(([name, value]) => {
    const from = spec.scaling[name as ScalingKnob] ?? null;
    return { op: from === null ? 'add' : 'replace', path: `/scaling/${name}`, from, value, rationale };
  });
}
