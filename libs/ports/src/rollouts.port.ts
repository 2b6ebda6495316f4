import type { RevisionSpec } from '@slipway/contracts';
import type { Tx } from '@slipway/platform-database';
import type { AnalysisDto, Deployment, StrategyDto } from './deployment-records.port.js';
import type { PlanExecutionDto } from './plan.dto.js';
import type { Revision } from './revisions.port.js';

export const ROLLOUTS = Symbol('RolloutsPort');

/** A rollout body that was read and found valid. */
export interface CheckedRollout {
  /** The body without unknown fields, as `POST …/rollouts` would take it. */
  body: Record<string, unknown>;
  /** The complete spec that it would build. */
  spec: RevisionSpec;
  specDigest: string;
}

/** How a rollout would be carried out, with every default written out. Field names are those of the API. */
export type RolloutPreview = PlanExecutionDto;

/** Offered by rollouts. */
export interface RolloutsPort {
  /**
   * Reads a rollout body (of `POST …/rollouts`) as the API does, applies it to `base` and checks it with the targets.
   * Writes nothing.
   * @param within dotted path of the body, for the fields of the error
   * @throws invalid_parameter (400) and validation_failed (422), naming each field
   */
  check(tx: Tx, tenantId: string, body: object, base: Revision, within: string): Promise<CheckedRollout>;
  /**
   * Returns how a rollout that replaces an active revision would be carried out. Strategy and gate are chosen as for an
   * accepted rollout. `auto` stays `auto`, because capacity decides only then.
   * @param requested parts of a valid body; the deployment decides what they leave out
   */
  preview(
    requested: { strategy?: StrategyDto; analysis?: AnalysisDto },
    spec: RevisionSpec,
    deployment: Pick<Deployment, 'defaultStrategy' | 'defaultAnalysis'>,
  ): RolloutPreview;
}
