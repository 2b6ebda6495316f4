import { ANY_MEDIA_URL } from '@slipway/contracts';
import { ArrayField, BooleanField, IntField, MapField, ObjectField, StringField } from '@slipway/platform-http';
import {
  AnalysisDto,
  AnalysisMetricDto,
  HOLD_SECONDS,
  MediaUrlsDto,
  MediaUrlsPatchDto,
  PROTECTED_ROLLOUTS,
  STRATEGY_TYPES,
  StrategyDto,
  StrategyStepDto,
  type Protection,
  type StrategyType,
} from '@slipway/ports/deployment-records';
import { ScalingOverrideDto, ScalingPatchDto } from '@slipway/ports/revisions';

const DISPLAY_NAME = { min: 1, max: 255 };
const DESCRIPTION = { max: 2000 };
const LABELS = { values: 'string', maxKeyLength: 63, maxValueLength: 255, example: { team: 'search' } } as const;
const MAX_LABELS = 64;
const ENVIRONMENT = { min: 1, max: 63, example: 'production' };
const DEFAULT_STRATEGY = { description: 'Strategy of rollouts that omit `strategy`' };
const DEFAULT_ANALYSIS = {
  description:
    'Gate of rollouts that omit `analysis`. Rollouts without a soak, such as that of a first revision, skip it. Without it, guards judge a soak.',
};
const REVISION_HISTORY_LIMIT = {
  min: 1,
  max: 1000,
  description:
    'Number of unused revisions to keep. Revisions that a route, binding or rollback refers to are always kept.',
};
const PROTECTION = {
  description:
    'Changes that the deployment is protected from. Lowering it requires the scope admin. A rollback is always allowed.',
};
const SCALING = {
  description:
    'Overrides single fields of the `scaling` of its revisions. Omitted fields keep the value of the revision.',
};
const DRAIN_SECONDS = {
  min: 0,
  max: 86_400,
  description:
    'Seconds that an instance without traffic waits for its requests in flight before it is stopped. Without requests it stops at once.',
};
const MEDIA_URLS = {
  description:
    'Which URLs of media (`image_url`, `input_audio`, `file` and their like) its inference requests may name. The gateways refuse others with 400 `media_url_refused`. A published slug has a rule of its own in addition.',
};
const DELETION = { description: 'Whether DELETE returns 409 `deployment_protected`' };
const ROLLOUTS = {
  enum: PROTECTED_ROLLOUTS,
  description:
    '`approved_plan`: a rollout without the `plan_id` of an approved plan returns 409 `plan_required`, and DELETE requires the scope admin',
};
export const UNPROTECTED: Protection = { deletion: false, rollouts: 'any' };

export class ProtectionDto implements Protection {
  @BooleanField({ ...DELETION, default: UNPROTECTED.deletion })
  deletion: boolean;

  @StringField({ ...ROLLOUTS, default: UNPROTECTED.rollouts })
  rollouts: Protection['rollouts'];
}

/** The settings of a deployment as a whole. They are valid at its creation and after every patch. */
export class DeploymentSettingsDto {
  @StringField({ ...DISPLAY_NAME, optional: true })
  display_name?: string;

  @StringField({ ...DESCRIPTION, optional: true })
  description?: string;

  @MapField({ ...LABELS, maxEntries: MAX_LABELS, default: {} })
  labels: Record<string, string>;

  @StringField({ ...ENVIRONMENT, optional: true })
  environment?: string;

  @ObjectField(() => StrategyDto, { ...DEFAULT_STRATEGY, optional: true })
  default_strategy?: StrategyDto;

  @ObjectField(() => AnalysisDto, { ...DEFAULT_ANALYSIS, optional: true })
  default_analysis?: AnalysisDto;

  @IntField({ ...REVISION_HISTORY_LIMIT, default: 10 })
  revision_history_limit: number;

  @ObjectField(() => ProtectionDto, { ...PROTECTION, default: UNPROTECTED })
  protection: ProtectionDto;

  @ObjectField(() => ScalingOverrideDto, { ...SCALING, optional: true })
  scaling?: ScalingOverrideDto;

  @IntField({ ...DRAIN_SECONDS, default: 600 })
  drain_seconds: number;

  @ObjectField(() => MediaUrlsDto, { ...MEDIA_URLS, default: ANY_MEDIA_URL })
  media_urls: MediaUrlsDto;
}

export class BakePatchDto {
  @IntField({ min: 1, max: 604_800, removable: true })
  seconds?: number | null;

  @ArrayField(() => AnalysisMetricDto, { minItems: 1, maxItems: 16, removable: true })
  metrics?: AnalysisMetricDto[] | null;
}

export class StrategyPatchDto {
  @StringField({ enum: STRATEGY_TYPES, removable: true })
  type?: StrategyType | null;

  @ArrayField(() => StrategyStepDto, { minItems: 1, maxItems: 32, removable: true })
  steps?: StrategyStepDto[] | null;

  @IntField({ min: HOLD_SECONDS.min, max: HOLD_SECONDS.max, removable: true })
  hold_seconds?: number | null;

  @ObjectField(() => BakePatchDto, { removable: true })
  bake?: BakePatchDto | null;
}

export class AnalysisPatchDto {
  @StringField({ enum: ['none'], removable: true })
  mode?: 'none' | null;

  @ArrayField(() => AnalysisMetricDto, { minItems: 1, maxItems: 16, removable: true })
  metrics?: AnalysisMetricDto[] | null;

  @StringField({ enum: ['rollback', 'pause'], removable: true })
  on_failure?: 'rollback' | 'pause' | null;

  @StringField({ enum: ['pause', 'rollback'], removable: true })
  on_inconclusive?: 'pause' | 'rollback' | null;
}

export class ProtectionPatchDto {
  @BooleanField({ ...DELETION, removable: true })
  deletion?: boolean | null;

  @StringField({ ...ROLLOUTS, removable: true })
  rollouts?: Protection['rollouts'] | null;
}

/**
 * A merge patch of `DeploymentSettingsDto`, with types and bounds of the fields in the patch. The merged result is
 * validated as a whole.
 */
export class UpdateDeploymentDto {
  @StringField({ max: 63, removable: true, description: 'Cannot change, because clients send it as `model`' })
  name?: string | null;

  @StringField({ ...DISPLAY_NAME, removable: true })
  display_name?: string | null;

  @StringField({ ...DESCRIPTION, removable: true })
  description?: string | null;

  @MapField({
    ...LABELS,
    maxEntries: 2 * MAX_LABELS,
    removable: true,
    removableValues: true,
    description: `Merged key by key; null removes a key. At most ${MAX_LABELS} labels after the merge`,
    example: { team: 'search', trial: null },
  })
  labels?: Record<string, string | null> | null;

  @StringField({ ...ENVIRONMENT, removable: true })
  environment?: string | null;

  @ObjectField(() => StrategyPatchDto, { ...DEFAULT_STRATEGY, removable: true })
  default_strategy?: StrategyPatchDto | null;

  @ObjectField(() => AnalysisPatchDto, { ...DEFAULT_ANALYSIS, removable: true })
  default_analysis?: AnalysisPatchDto | null;

  @IntField({ ...REVISION_HISTORY_LIMIT, removable: true })
  revision_history_limit?: number | null;

  @ObjectField(() => ProtectionPatchDto, { ...PROTECTION, removable: true })
  protection?: ProtectionPatchDto | null;

  @ObjectField(() => ScalingPatchDto, { ...SCALING, removable: true })
  scaling?: ScalingPatchDto | null;

  @IntField({ ...DRAIN_SECONDS, removable: true })
  drain_seconds?: number | null;

  @ObjectField(() => MediaUrlsPatchDto, { ...MEDIA_URLS, removable: true })
  media_urls?: MediaUrlsPatchDto | null;
}
