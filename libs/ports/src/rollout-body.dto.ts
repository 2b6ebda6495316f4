import {
  endpointUrls,
  METRIC_NAMES,
  metricOf,
  READY_PROBES,
  serverUrls,
  STATS,
  type Metric,
  type ReadyProbe,
  type Stat,
} from '@slipway/contracts';
import {
  ArrayField,
  IntField,
  MapField,
  ObjectField,
  StringField,
  BooleanField,
  type FieldIssue,
  NumberField,
} from '@slipway/platform-http';

const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);

export class ModelSpecDto {
  @StringField({ min: 1, max: 255, description: 'Name of the model at the model server', example: 'llama-3.1-8b' })
  id: string;

  @StringField({ min: 1, max: 2048, optional: true, description: 'Location of the weights, such as a path or hf://…' })
  uri?: string;

  @StringField({ min: 1, max: 255, optional: true })
  revision?: string;

  @StringField({ min: 1, max: 64, optional: true, example: 'gguf' })
  format?: string;

  @StringField({ min: 1, max: 64, optional: true, example: 'Q4_K_M' })
  quantization?: string;
}

export class RuntimeSpecDto {
  @StringField({
    min: 1,
    max: 63,
    description: "An execution target of the operator's configuration (GET /targets)",
    example: 'local',
  })
  target: string;

  @StringField({ min: 1, max: 63, optional: true, description: "One of the target's engines", example: 'sim' })
  engine?: string;

  @MapField({
    values: 'json',
    maxEntries: 64,
    maxKeyLength: 63,
    optional: true,
    example: { ttft_ms: 20 },
    description: 'Arguments that the engine declares; each a string, a number or a boolean',
    check: (args) =>
      Object.values(args).every(isScalar) ? undefined : 'args must contain only strings, numbers and booleans',
  })
  args?: Record<string, string | number | boolean>;

  @MapField({
    values: 'json',
    maxEntries: 64,
    maxKeyLength: 127,
    optional: true,
    description: 'Environment variables that the engine allows; each a string or {"secret_ref": "name"}',
    check: (env) =>
      Object.values(env).every(isEnvValue) ? undefined : 'env must contain only strings and {"secret_ref": "name"}',
  })
  env?: Record<string, string | { secret_ref: string }>;
}

function isEnvValue(value: unknown): boolean {
  if (typeof value === 'string') return true;
  return (
    typeof value === 'object' && value !== null && typeof (value as { secret_ref?: unknown }).secret_ref === 'string'
  );
}

const MOST_URLS = 32;

export class EndpointSpecDto {
  @StringField({
    min: 1,
    max: 2048,
    optional: true,
    description: 'URL of a running OpenAI-compatible server; set this, `base_urls` or both',
    example: 'http://127.0.0.1:8000',
  })
  base_url?: string;

  @ArrayField('string', {
    item: { min: 1, max: 2048 },
    minItems: 1,
    maxItems: MOST_URLS,
    optional: true,
    description: `Further servers with the same model; each is a separate instance. At most ${MOST_URLS} including \`base_url\``,
    example: ['http://127.0.0.1:8001', 'http://127.0.0.1:8002'],
  })
  base_urls?: string[];

  @StringField({ enum: ['openai'], default: 'openai' })
  protocol: 'openai';

  @StringField({
    min: 1,
    max: 1024,
    pattern: /^\/[\x21-\x22\x24-\x3e\x40-\x7e]*$/,
    optional: true,
    description:
      'Path of the API below the base URL. If omitted: the base URL itself if its path ends in a version, such as `/v1`, `/api/v3` or `/v1beta/openai`; else `/v1` below it',
    example: '/openai',
  })
  api_path?: string;

  @StringField({ min: 1, max: 1024, pattern: /^\//, default: '/health' })
  health_path: string;

  @StringField({
    min: 1,
    max: 63,
    optional: true,
    description: "A secret of the operator's configuration, sent as a bearer token",
  })
  credential_ref?: string;

  static check(endpoint: EndpointSpecDto) {
    const urls = endpointUrls(endpoint);
    if (urls.length === 0)
      return [{ field: 'base_url', code: 'required', message: 'base_url or base_urls is required' }];
    if (urls.length > MOST_URLS)
      return [{ field: 'base_urls', code: 'max_items', message: `at most ${MOST_URLS} servers, including base_url` }];
    const apis = urls.map((url) => serverUrls(url, endpoint.api_path).api);
    const twice = urls.find((_url, ordinal) => apis.indexOf(apis[ordinal]!) < ordinal);
    if (twice === undefined) return [];
    return [{ field: 'base_urls', code: 'unique', message: `base_urls lists a server twice: ${twice}` }];
  }
}

export class ResourcesSpecDto {
  @StringField({ min: 1, max: 63, optional: true, example: 'nvidia-l4' })
  accelerator?: string;

  @IntField({ min: 0, max: 1024, optional: true })
  count?: number;

  @IntField({ min: 0, max: 100_000_000, optional: true })
  memory_mb?: number;
}

const MIN_REPLICAS = {
  min: 0,
  max: 1000,
  description: 'Minimum number of instances; 0 = scale to zero when no requests arrive',
};
const MAX_REPLICAS = {
  min: 1,
  max: 1000,
  description: 'Maximum number of instances, if their number follows the load',
};
const TARGET_IN_FLIGHT = {
  min: 1,
  max: 10_000,
  description:
    'Intended number of requests in flight per instance. If omitted, the number of instances does not follow the load',
};
const SCALE_DOWN_AFTER_SECONDS = {
  min: 10,
  max: 86_400,
  description: 'Seconds that the load must stay low before one instance is removed; default 300',
};
const IDLE_SECONDS = {
  min: 10,
  max: 604_800,
  description: 'Seconds without requests before the last instance is removed; only with `min_replicas: 0`; default 600',
};

export class ScalingSpecDto {
  @IntField({ ...MIN_REPLICAS, default: 1 })
  min_replicas: number;

  @IntField({ ...MAX_REPLICAS, optional: true })
  max_replicas?: number;

  @IntField({ ...TARGET_IN_FLIGHT, optional: true })
  target_in_flight?: number;

  @IntField({ ...SCALE_DOWN_AFTER_SECONDS, optional: true })
  scale_down_after_seconds?: number;

  @IntField({ ...IDLE_SECONDS, optional: true })
  idle_seconds?: number;

  static check(scaling: ScalingSpecDto) {
    return contradictions(scaling);
  }
}

/** The scaling of a deployment. The revision decides every field that it leaves out. */
export class ScalingOverrideDto {
  @IntField({ ...MIN_REPLICAS, optional: true })
  min_replicas?: number;

  @IntField({ ...MAX_REPLICAS, optional: true })
  max_replicas?: number;

  @IntField({ ...TARGET_IN_FLIGHT, optional: true })
  target_in_flight?: number;

  @IntField({ ...SCALE_DOWN_AFTER_SECONDS, optional: true })
  scale_down_after_seconds?: number;

  @IntField({ ...IDLE_SECONDS, optional: true })
  idle_seconds?: number;

  static check(scaling: ScalingOverrideDto) {
    return contradictions(scaling);
  }
}

export class ScalingPatchDto {
  @IntField({ ...MIN_REPLICAS, removable: true })
  min_replicas?: number | null;

  @IntField({ ...MAX_REPLICAS, removable: true })
  max_replicas?: number | null;

  @IntField({ ...TARGET_IN_FLIGHT, removable: true })
  target_in_flight?: number | null;

  @IntField({ ...SCALE_DOWN_AFTER_SECONDS, removable: true })
  scale_down_after_seconds?: number | null;

  @IntField({ ...IDLE_SECONDS, removable: true })
  idle_seconds?: number | null;
}

/** Returns the contradictions within one scaling. */
function contradictions({ min_replicas: min, max_replicas: max, idle_seconds: idle }: ScalingOverrideDto) {
  const found: { field: string; code: string; message: string }[] = [];
  if (min !== undefined && max !== undefined && max < min)
    found.push({ field: 'max_replicas', code: 'min', message: 'max_replicas must not be below min_replicas' });
  if (idle !== undefined && min !== undefined && min > 0)
    found.push({
      field: 'idle_seconds',
      code: 'not_allowed',
      message: 'idle_seconds defines when the last instance is removed, so it requires min_replicas 0',
    });
  return found;
}

export class ProbesSpecDto {
  @StringField({ min: 1, max: 1024, pattern: /^\//, optional: true })
  path?: string;

  @IntField({ min: 1, max: 3600, optional: true })
  interval_seconds?: number;

  @IntField({ min: 1, max: 300, optional: true })
  timeout_seconds?: number;

  @IntField({ min: 1, max: 100, optional: true })
  failure_threshold?: number;

  @StringField({
    enum: READY_PROBES,
    optional: true,
    description:
      'How an instance becomes ready. `request` (default): it answers one small request with a result, once after each start or adoption. `list`: its health and its list of models are enough; its message says that it is not proven',
  })
  probe?: ReadyProbe;
}

export class RevisionSpecDto {
  @ObjectField(() => ModelSpecDto)
  model: ModelSpecDto;

  @ObjectField(() => RuntimeSpecDto)
  runtime: RuntimeSpecDto;

  @ObjectField(() => EndpointSpecDto, { optional: true, description: 'For targets of kind `endpoint` only' })
  endpoint?: EndpointSpecDto;

  @ObjectField(() => ResourcesSpecDto, { optional: true })
  resources?: ResourcesSpecDto;

  @ObjectField(() => ScalingSpecDto, { optional: true })
  scaling?: ScalingSpecDto;

  @ObjectField(() => ProbesSpecDto, { optional: true })
  probes?: ProbesSpecDto;
}

export const STRATEGY_TYPES = ['candidate', 'canary', 'blue_green', 'immediate', 'recreate', 'auto'] as const;
export type StrategyType = (typeof STRATEGY_TYPES)[number];

/** How long a request may wait at the gateways: clients of this family give up after 300 s without response headers. */
export const HOLD_SECONDS = { min: 1, max: 290, default: 60 } as const;

export class StrategyStepDto {
  @IntField({ min: 1, max: 100, description: 'Share of the traffic that the candidate gets at this step, in percent' })
  traffic_percent: number;

  @IntField({ min: 0, max: 604_800, default: 180 })
  soak_seconds: number;

  @BooleanField({
    default: false,
    description:
      'Whether the rollout waits after this step until a person other than the one who began it approves (POST /operations/{id}/promote). The policy of the deployment decides who may (`prevent_self_approval`)',
  })
  requires_approval: boolean;

  @BooleanField({
    default: false,
    description:
      'Whether the rollout waits after this step until any operator continues it (POST /operations/{id}/resume)',
  })
  pause: boolean;
}

/** What is watched after the promotion. */
export class BakeDto {
  @IntField({
    min: 1,
    max: 604_800,
    description:
      'Seconds after the promotion. `keep_previous_seconds` must be at least this, so that a rollback is immediate',
  })
  seconds: number;

  @ArrayField(() => AnalysisMetricDto, {
    minItems: 1,
    maxItems: 16,
    description: 'Only checks of type `threshold`: no other revision has traffic to compare with',
  })
  metrics: AnalysisMetricDto[];

  static check({ metrics }: BakeDto): FieldIssue[] {
    const message = 'a bake compares with no other revision, so each of its checks must be a threshold';
    const tolerated = 'a bake has one gate, so it tolerates no breach';
    return metrics.flatMap(({ check, failure_limit }, index) => [
      ...(check === 'threshold' ? [] : [{ field: `metrics[${index}].check`, code: 'not_applicable', message }]),
      ...(failure_limit === 0
        ? []
        : [{ field: `metrics[${index}].failure_limit`, code: 'not_applicable', message: tolerated }]),
    ]);
  }
}

const NO_SHARES =
  'recreate never runs two revisions, so it cannot split traffic: omit steps, or specify one step of 100 percent for its soak_seconds; use canary to split traffic';
const NO_APPROVAL =
  'recreate cannot pause for an approval, because requests would wait or the previous revision has stopped: require approval before the rollout, with protection.rollouts approved_plan';

/** How a rollout moves traffic: part of a rollout request, and the default that a deployment keeps. */
export class StrategyDto {
  @StringField({
    enum: STRATEGY_TYPES,
    description:
      '`candidate` proves that the revision is ready and moves no traffic. `recreate` stops the previous revision before it starts the next one, for targets without capacity for both; requests wait in the meantime. `auto`: `canary` if there is capacity for both, else `recreate`',
  })
  type: StrategyType;

  @ArrayField(() => StrategyStepDto, {
    minItems: 1,
    maxItems: 32,
    optional: true,
    description:
      'Default for canary and auto: 5, 25, 50, 100; for blue_green and recreate: one step of 100. If `auto` chooses recreate, it soaks as long as the last step',
  })
  steps?: StrategyStepDto[];

  @IntField({
    min: HOLD_SECONDS.min,
    max: HOLD_SECONDS.max,
    optional: true,
    description: `recreate and auto: maximum seconds that a request waits before it fails with 503; default ${HOLD_SECONDS.default}`,
  })
  hold_seconds?: number;

  @ObjectField(() => BakeDto, {
    optional: true,
    description:
      'Watches thresholds after the promotion and rolls back after a breach. Any other change of the traffic ends it. Only for canary, blue_green and immediate',
  })
  bake?: BakeDto;

  static check(strategy: StrategyDto): FieldIssue[] {
    const { type, steps, hold_seconds, bake } = strategy;
    if (bake && (type === 'candidate' || type === 'recreate' || type === 'auto'))
      return [
        {
          field: 'bake',
          code: 'not_applicable',
          message: `a bake rolls back to the previous revision, which a strategy of type ${type} may stop or never replaces`,
        },
      ];
    if (hold_seconds !== undefined && type !== 'recreate' && type !== 'auto')
      return [
        {
          field: 'hold_seconds',
          code: 'not_applicable',
          message: `a strategy of type ${type} holds no requests; only recreate and auto do`,
        },
      ];
    if (!steps) return [];
    if (type === 'recreate' && (steps.length !== 1 || steps[0]?.traffic_percent !== 100))
      return [{ field: 'steps', code: 'not_applicable', message: NO_SHARES }];
    if ((type === 'recreate' || type === 'auto') && steps.some((step) => step.requires_approval || step.pause))
      return [{ field: 'steps', code: 'not_applicable', message: NO_APPROVAL }];
    if (type === 'candidate' || type === 'immediate')
      return [{ field: 'steps', code: 'not_applicable', message: `a strategy of type ${type} has no steps` }];
    if (type === 'blue_green' && (steps.length !== 1 || steps[0]?.traffic_percent !== 100)) {
      return [{ field: 'steps', code: 'invalid', message: 'blue_green must have exactly one step, of 100 percent' }];
    }
    const percents = steps.map((step) => step.traffic_percent);
    if (percents.some((percent, index) => index > 0 && percent <= (percents[index - 1] as number))) {
      return [{ field: 'steps', code: 'order', message: 'traffic_percent must increase from step to step' }];
    }
    if (percents[percents.length - 1] !== 100)
      return [{ field: 'steps', code: 'order', message: 'the last step must be 100 percent' }];
    return [];
  }
}

export class AnalysisMetricDto {
  @StringField({ enum: METRIC_NAMES })
  name: Metric;

  @StringField({
    enum: STATS,
    optional: true,
    description: 'Default: the default of the metric, which is p95 for values and rate for counts',
  })
  stat?: Stat;

  @StringField({ enum: ['threshold', 'regression'] })
  check: 'threshold' | 'regression';

  @StringField({
    enum: ['lte', 'gte'],
    optional: true,
    description: 'Default: lte for metrics that are better when lower, else gte',
  })
  operator?: 'lte' | 'gte';

  @NumberField({ min: 0, optional: true })
  threshold?: number;

  @NumberField({ min: 0, max: 10_000, optional: true })
  max_regression_percent?: number;

  @IntField({ min: 1, max: 1_000_000, default: 50 })
  min_samples: number;

  @IntField({
    min: 1,
    max: 604_800,
    optional: true,
    description: 'Seconds of samples that the check uses; default: the soak',
  })
  window_seconds?: number;

  @IntField({
    min: 0,
    max: 100,
    default: 0,
    description: 'Number of breaches of this check that the rollout tolerates',
  })
  failure_limit: number;

  @BooleanField({ default: false, description: 'Whether the check is only reported and never blocks' })
  dry_run: boolean;

  static check(metric: AnalysisMetricDto): FieldIssue[] {
    const issues: FieldIssue[] = [];
    if (metric.check === 'threshold' && metric.threshold === undefined)
      issues.push({ field: 'threshold', code: 'required', message: 'a threshold check requires threshold' });
    if (metric.check === 'regression' && metric.max_regression_percent === undefined) {
      issues.push({
        field: 'max_regression_percent',
        code: 'required',
        message: 'a regression check requires max_regression_percent',
      });
    }
    const { stats } = metricOf(metric.name);
    if (metric.stat !== undefined && !stats.includes(metric.stat)) {
      issues.push({
        field: 'stat',
        code: 'not_applicable',
        message: `${metric.name} supports only the stats ${stats.join(', ')}`,
      });
    }
    return issues;
  }
}

/**
 * The gate that a rollout has to pass after each soak: part of a rollout request, and the default that a deployment
 * keeps.
 */
export class AnalysisDto {
  @StringField({
    enum: ['none'],
    optional: true,
    description:
      '`none`: nothing judges the rollout, not even the guards. `metrics` is then ignored and may be absent.',
  })
  mode?: 'none';

  @ArrayField(() => AnalysisMetricDto, {
    minItems: 1,
    maxItems: 16,
    optional: true,
    description: 'Required unless `mode` is `none`. Guards judge the outcomes that no metric names.',
  })
  metrics?: AnalysisMetricDto[];

  @StringField({ enum: ['rollback', 'pause'], default: 'rollback' })
  on_failure: 'rollback' | 'pause';

  @StringField({ enum: ['pause', 'rollback'], default: 'pause' })
  on_inconclusive: 'pause' | 'rollback';

  static check({ mode, metrics }: AnalysisDto): FieldIssue[] {
    if (mode === 'none' || metrics) return [];
    return [{ field: 'metrics', code: 'required', message: 'is required unless mode is none' }];
  }
}
