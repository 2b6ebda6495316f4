import { effectiveScaling, type ScalingSpec } from '@slipway/contracts';
import { replicaBounds } from './scaling-decision.js';

/** What the number of instances is made of with which a revision begins. */
export interface Beginning {
  /** The revision's own. */
  scaling: ScalingSpec;
  /** Its deployment's. */
  override: Partial<ScalingSpec> | null;
  /** The most that a revision has whose traffic it takes over; 0 where it takes none. */
  baseline: number;
  /** Its own, that are wanted already. */
  running: number;
}

/** `least` is refused or waited for where there is no room; what is beyond it is left out. */
export interface InitialReplicas {
  least: number;
  wished: number;
}

/**
 * How many instances a revision begins with: as many as those have that had the traffic before it, as far as its scaling lets it, so that it
 * does not begin under load with one; and what its deployment asks for. What it asks for itself is its least.
 */
export function initialReplicas({ scaling, override, baseline, running }: Beginning): InitialReplicas {
  const { least, most } = replicaBounds(effectiveScaling(scaling, override));
  const own = Math.max(1, scaling.min_replicas);
  return { least: Math.max(running, Math.min(least, own)), wished: Math.max(running, least, Math.min(baseline, most)) };
}

/** @param room instances that places, devices and quota leave it; Infinity where nothing bounds them */
export function withinRoom({ least, wished }: InitialReplicas, room: number): number {
  return Math.max(least, Math.min(wished, room));
}
