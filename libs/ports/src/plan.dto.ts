import {
  ActorDto,
  ArrayField,
  BooleanField,
  IntField,
  JsonField,
  NumberField,
  ObjectField,
  OwnerDto,
  StringField,
  TimestampField,
} from '@slipway/platform-http';
import {
  AnalysisMetricDto,
  BakeDto,
  STRATEGY_TYPES,
  StrategyStepDto,
  type StrategyType,
} from './rollout-strategy.dto.js';

export const PLAN_STATES = ['pending', 'approved', 'rejected', 'expired', 'superseded'] as const;
export type PlanState = (typeof PLAN_STATES)[number];
const RISK_LEVELS = ['low', 'medium', 'high'] as const;

export class PlanChangeDto {
  @StringField({ enum: ['add', 'remove', 'replace'], default: 'replace' })
  op: 'add' | 'remove' | 'replace';

  @StringField({
    min: 1,
    max: 1024,
    description: 'JSON Pointer into the spec of the base revision (a dotted path is accepted too)',
    example: '/scaling/min_replicas',
  })
  path: string;

  @JsonField({
    any: true,
    optional: true,
    nullable: true,
    description: 'The current value; the change is rejected if the actual value differs',
  })
  from?: unknown;

  @JsonField({ any: true, optional: true, nullable: true })
  value?: unknown;

  @StringField({ max: 2000, optional: true, nullable: true })
  rationale?: string | null;
}

export class MeasuredDto {
  @NumberField({ optional: true, nullable: true })
  value: number | null;

  @IntField({ min: 0, default: 0, description: 'Samples' })
  n: number;
}

export class PlanEvidenceDto {
  @StringField({ enum: ['benchmark', 'telemetry', 'simulation', 'canary'] })
  kind: 'benchmark' | 'telemetry' | 'simulation' | 'canary';

  @StringField({ max: 255, optional: true, nullable: true, example: 'guidellm 0.3' })
  tool?: string | null;

  @StringField({ min: 1, max: 100, example: 'ttft_ms' })
  metric: string;

  @StringField({ max: 32, optional: true, nullable: true, example: 'p95' })
  stat?: string | null;

  @ObjectField(() => MeasuredDto, { optional: true, nullable: true })
  baseline?: MeasuredDto | null;

  @ObjectField(() => MeasuredDto, { optional: true, nullable: true })
  candidate?: MeasuredDto | null;

  @NumberField({ optional: true, nullable: true })
  delta_percent?: number | null;

  @StringField({ max: 255, optional: true, nullable: true, description: 'Digest of the raw data' })
  digest?: string | null;

  @TimestampField({ optional: true, nullable: true })
  collected_at?: string | null;
}

export class PlanRiskDto {
  @StringField({ enum: RISK_LEVELS, default: 'low' })
  level: (typeof RISK_LEVELS)[number];

  @ArrayField('string', { maxItems: 32, default: [], item: { min: 1, max: 1000 } })
  reasons: string[];
}

export class PlanActorDto extends ActorDto {
  @ObjectField(() => OwnerDto, {
    optional: true,
    nullable: true,
    description:
      'Responsible person or service; null for a component of Slipway, absent in plans that are older than this field',
  })
  owner?: OwnerDto | null;
}

export class PlanDecisionDto {
  @ObjectField(() => PlanActorDto)
  by: PlanActorDto;

  @TimestampField()
  at: string;

  @StringField({ nullable: true })
  comment: string | null;

  @StringField({ description: 'Content digest that the decision applies to' })
  digest: string;
}

export class PlanApprovalDto {
  @StringField({ enum: PLAN_STATES })
  state: PlanState;

  @IntField({
    min: 1,
    description:
      'Number of distinct people (owners of tokens, or signed-in identities) who must approve, by the policy version of the plan',
  })
  approvals_required: number;

  @ArrayField(() => PlanDecisionDto)
  approvals: PlanDecisionDto[];

  @ObjectField(() => PlanDecisionDto, {
    nullable: true,
    description: 'The decision that rejected, expired or superseded the plan',
  })
  ended: PlanDecisionDto | null;

  @IntField({ min: 0, description: 'Increases with every decision' })
  version: number;
}

/** A strategy in which everything is decided, other than in a request: a strategy without steps has an empty list. */
export class PlanStrategyDto {
  @StringField({ enum: STRATEGY_TYPES })
  type: StrategyType;

  @ArrayField(() => StrategyStepDto, { description: 'Empty if no traffic moves step by step' })
  steps: StrategyStepDto[];

  @IntField({ optional: true, description: 'recreate and auto: maximum seconds that a request waits' })
  hold_seconds?: number;

  @ObjectField(() => BakeDto, { optional: true })
  bake?: BakeDto;
}

export class PlanGuardDto {
  @StringField({ example: 'error_rate' })
  name: string;

  @NumberField({ description: 'How much higher than that of the stable revision the share may be, 0 to 1' })
  max_difference: number;

  @IntField({ min: 0, description: 'With fewer requests on either side, the guard rolls nothing back' })
  min_samples: number;
}

export class PlanGateDto {
  @StringField({
    enum: ['rollout', 'deployment', 'default'],
    description:
      '`rollout`: the plan has this gate; `deployment`: the `default_analysis` of the deployment when the plan was created; `default`: guards only',
  })
  source: 'rollout' | 'deployment' | 'default';

  @ArrayField(() => AnalysisMetricDto)
  metrics: AnalysisMetricDto[];

  @ArrayField(() => PlanGuardDto, { description: 'Judges of the outcomes that no metric names' })
  guards: PlanGuardDto[];

  @StringField({ enum: ['rollback', 'pause'] })
  on_failure: 'rollback' | 'pause';

  @StringField({ enum: ['pause', 'rollback'] })
  on_inconclusive: 'pause' | 'rollback';
}

export class PlanExecutionDto {
  @ObjectField(() => PlanStrategyDto, {
    description: 'Strategy with its steps. `auto` becomes `canary` or `recreate` when the plan is executed',
  })
  strategy: PlanStrategyDto;

  @ObjectField(() => PlanGateDto, { nullable: true, description: 'The gate of each soak; null if nothing judges' })
  analysis: PlanGateDto | null;

  @StringField({ description: 'Execution target of the spec', example: 'local' })
  target: string;

  @BooleanField({ description: 'Whether a gate judges the candidate before it has all traffic' })
  is_gated: boolean;
}

export const PLAN_KINDS = ['scale_up', 'scale_down', 'retarget', 'revert', 'manual'] as const;
export type PlanKind = (typeof PLAN_KINDS)[number];

/** Conditions under which the predicted values hold. */
export class PlanAssumptionsDto {
  @NumberField({ nullable: true, description: 'Peak of the requests, per second' })
  peak_request_rate: number | null;

  @NumberField({ nullable: true })
  input_tokens_p95: number | null;

  @NumberField({ nullable: true })
  output_tokens_p95: number | null;

  @StringField({ nullable: true, description: 'Engine of the base, with its version if the spec names one' })
  engine_version: string | null;
}

export const OUTCOME_PHASES = ['promotion', 'window'] as const;
export type OutcomePhase = (typeof OUTCOME_PHASES)[number];
export const OUTCOME_RESULTS = [
  'as_predicted',
  'better',
  'worse',
  'no_effect',
  'assumptions_moved',
  'rolled_back',
] as const;
export type OutcomeResult = (typeof OUTCOME_RESULTS)[number];

export class PredictedValueDto {
  @NumberField({ description: 'In the unit of the metric' })
  value: number;

  @NumberField()
  low: number;

  @NumberField()
  high: number;
}

export class AchievedValueDto {
  @NumberField({ description: 'In the unit of the metric' })
  value: number;

  @NumberField()
  low: number;

  @NumberField({ nullable: true, description: 'Null if there are too few values to bound it' })
  high: number | null;

  @IntField({ min: 0, description: 'Samples' })
  n: number;
}

export class PlanOutcomeDto {
  @StringField({
    enum: OUTCOME_PHASES,
    description: '`promotion`: as soon as there are enough samples. `window`: after `promotion.outcome_window_seconds`',
  })
  phase: OutcomePhase;

  @TimestampField()
  at: string;

  @StringField({ example: 'ttft_ms' })
  metric: string;

  @StringField({ example: 'p95' })
  stat: string;

  @NumberField({ nullable: true, description: 'Value before the plan, as the plan states it' })
  now: number | null;

  @ObjectField(() => PredictedValueDto, {
    nullable: true,
    description: 'Null for an SLO that is newly missed and that the plan does not predict',
  })
  predicted: PredictedValueDto | null;

  @ObjectField(() => AchievedValueDto, {
    nullable: true,
    description: 'At a load that is comparable with the one that the plan assumes; null if nothing was measured',
  })
  achieved: AchievedValueDto | null;

  @BooleanField({ nullable: true, description: 'Whether the achieved value is inside the predicted interval' })
  within: boolean | null;

  @NumberField({ nullable: true, description: 'Natural logarithm of the achieved value divided by the predicted one' })
  log_error: number | null;

  @StringField({
    enum: OUTCOME_RESULTS,
    nullable: true,
    description:
      '`as_predicted`: inside the interval. `better`: on the better side of it, or outside it and certainly better than before. `worse`: outside it and certainly worse than before, or the SLO is newly missed. `no_effect`: certainly not as predicted, and not certainly different from before. `assumptions_moved`: the load or the lengths of the requests differ from those that the plan assumes. `rolled_back`: another revision replaced that of the plan. Null: too few samples came in time, or they fit the prediction as well as the value before',
  })
  result: OutcomeResult | null;
}

export class PlanDto {
  @StringField({ example: 'plan_0190f5c27bd87cc0a6b7d2f5e1a3c4d5' }) id: string;
  @StringField({ description: 'Name of the deployment' }) deployment: string;
  @IntField({ nullable: true, description: 'Version of the policy that the plan follows; null if there was none' })
  policy_version: number | null;
  @StringField({ example: 'chat-00002' }) base_revision: string;
  @StringField() base_spec_digest: string;
  @StringField() summary: string;
  @ArrayField(() => PlanChangeDto) changes: PlanChangeDto[];
  @JsonField({ description: 'Body for POST /deployments/{name}/rollouts' }) rollout: Record<string, unknown>;
  @ObjectField(() => PlanExecutionDto, {
    optional: true,
    description:
      'How the rollout will be carried out, with the defaults of the deployment when the plan was created. Absent in plans that are older than this field',
  })
  execution?: PlanExecutionDto;
  @ArrayField(() => PlanEvidenceDto) evidence: PlanEvidenceDto[];
  @StringField({
    enum: PLAN_KINDS,
    optional: true,
    description: 'Kind of the change; `manual` for plans of people. Absent in plans that are older than this field',
  })
  kind?: PlanKind;
  @ObjectField(() => PlanAssumptionsDto, {
    optional: true,
    nullable: true,
    description:
      'Conditions under which the predictions of the autopilot hold; null for plans of people, absent in plans that are older than this field',
  })
  assumes?: PlanAssumptionsDto | null;
  @JsonField({
    nullable: true,
    description:
      'As its author stated it. Plans of the autopilot have `metrics` (each with `metric`, `stat`, `now`, its interval and number of samples in `baseline`, `predicted` with `value`, `low` and `high`, `confidence`, `calibrated_on`), `cost` (`now` and `predicted` for one hour; null without a price), `basis` and `gpu_hours`',
  })
  predicted_impact: Record<string, unknown> | null;
  @ObjectField(() => PlanRiskDto) risk: PlanRiskDto;
  @ObjectField(() => PlanActorDto) created_by: PlanActorDto;
  @TimestampField() created_at: string;
  @TimestampField() expires_at: string;
  @StringField({ description: 'SHA-256 of the canonical JSON (RFC 8785) of all fields above' }) content_digest: string;
  @ObjectField(() => PlanApprovalDto) approval: PlanApprovalDto;
  @BooleanField({
    description: 'Whether the base is no longer the active revision; a stale plan can be neither approved nor executed',
  })
  stale: boolean;
  @ArrayField(() => PlanOutcomeDto, {
    description: 'Achieved values of the executed plan, oldest first. They are not part of the content and its digest',
  })
  outcomes: PlanOutcomeDto[];
  @BooleanField({
    nullable: true,
    description: 'Whether the assumptions held when the newest outcome was recorded; null before there is one',
  })
  assumptions_hold: boolean | null;
  @StringField({
    description:
      'Same as the ETag header: content digest, approval version, whether the plan has expired or is stale, and the number of its outcomes',
  })
  etag: string;
}
