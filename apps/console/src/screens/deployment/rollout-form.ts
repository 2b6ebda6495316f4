import type { Schemas } from '@slipway/sdk';

type RolloutBody = Schemas['RolloutDto'];
type Spec = Schemas['RevisionSpecDto'];
type Json = Record<string, unknown>;

/** What the form holds: texts as they were typed, so that half a number is no number. Empty is not set. */
export interface RolloutForm {
  modelId: string;
  modelUri: string;
  target: string;
  engine: string;
  args: Record<string, string>;
  strategy: string;
  steps: StepRow[];
  metrics: MetricRow[];
  reason: string;
}

export interface StepRow {
  trafficPercent: string;
  soakSeconds: string;
  isApproved: boolean;
}

export interface MetricRow {
  name: string;
  stat: string;
  check: string;
  limit: string;
  minSamples: string;
}

export interface ArgType {
  name: string;
  type: string;
}

const FIRST_STEPS: Schemas['StrategyStepDto'][] = [
  { traffic_percent: 10, soak_seconds: 60 },
  { traffic_percent: 100, soak_seconds: 60 },
];

export const STRATEGIES = ['canary', 'blue_green', 'immediate', 'recreate', 'candidate', 'auto'];
export const GATE_METRICS = [
  'error_rate',
  'upstream_fault_rate',
  'ttft_ms',
  'itl_ms',
  'e2e_latency_ms',
  'output_tokens_per_s',
];
export const GATE_STATS = ['', 'avg', 'p50', 'p90', 'p95', 'p99', 'rate'];

/** Begins with what the deployment does by default, where the request would say nothing. */
export function formOf(
  spec: Spec | undefined,
  strategy: Schemas['StrategyDto'] | null,
  analysis: Schemas['AnalysisDto'] | null = null,
): RolloutForm {
  return {
    modelId: spec?.model.id ?? '',
    modelUri: spec?.model.uri ?? '',
    target: spec?.runtime.target ?? '',
    engine: spec?.runtime.engine ?? '',
    args: Object.fromEntries(Object.entries(spec?.runtime.args ?? {}).map(([name, value]) => [name, argText(value)])),
    strategy: strategy?.type ?? (spec ? 'canary' : 'immediate'),
    steps: (strategy?.steps ?? FIRST_STEPS).map(
      ({ traffic_percent, soak_seconds = 180, requires_approval = false }) => ({
        trafficPercent: String(traffic_percent),
        soakSeconds: String(soak_seconds),
        isApproved: requires_approval,
      }),
    ),
    metrics: (analysis?.metrics ?? []).map((metric) => ({
      name: metric.name,
      stat: metric.stat ?? '',
      check: metric.check,
      limit: String((metric.check === 'threshold' ? metric.threshold : metric.max_regression_percent) ?? ''),
      minSamples: metric.min_samples === undefined ? '' : String(metric.min_samples),
    })),
    reason: '',
  };
}

export const hasSteps = (strategy: string): boolean => ['canary', 'blue_green', 'auto'].includes(strategy);

/** The request that the form stands for: a patch of the active revision where there is one. Throws what is wrong with it, in words. */
export function bodyOf(form: RolloutForm, declared: readonly ArgType[], active: Active | undefined): RolloutBody {
  const spec = specOf(form, declared, active?.spec);
  const strategy: NonNullable<RolloutBody['strategy']> = {
    type: form.strategy,
    ...(form.strategy === 'canary' && form.steps.length > 0 && { steps: form.steps.map(stepOf) }),
  };
  return {
    ...(active
      ? {
          spec_patch: mergePatch(active.spec as unknown as Json, spec as unknown as Json),
          base_revision: active.name,
          expected_active_revision: active.name,
        }
      : { spec }),
    strategy,
    ...(form.metrics.length > 0 && hasSteps(form.strategy) && { analysis: { metrics: form.metrics.map(metricOf) } }),
    ...(form.reason && { reason: form.reason }),
  };
}

export interface Active {
  name: string;
  spec: Spec;
}

function specOf(form: RolloutForm, declared: readonly ArgType[], base: Spec | undefined): Spec {
  if (!form.modelId.trim()) throw new Error('The model needs an id.');
  if (!form.target) throw new Error('Choose the target that it is to run on.');
  const args = Object.fromEntries(
    Object.entries(form.args)
      .filter(([, text]) => text !== '')
      .map(([name, text]) => {
        const before = base?.runtime.args?.[name];
        // What was not touched keeps its type, whatever the engine declares today.
        if (before !== undefined && argText(before) === text) return [name, before];
        return [name, argValue(declared.find((one) => one.name === name)?.type ?? 'string', name, text)];
      }),
  );
  const { uri: _uri, ...model } = base?.model ?? { id: '' };
  return {
    ...base,
    model: { ...model, id: form.modelId.trim(), ...(form.modelUri.trim() && { uri: form.modelUri.trim() }) },
    runtime: { ...base?.runtime, target: form.target, ...(form.engine && { engine: form.engine }), args },
  };
}

export const argText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

export function argValue(type: string, name: string, text: string): unknown {
  if (type === 'integer' || type === 'number') return numberOf(text, name, type === 'integer');
  if (type === 'boolean') return text === 'true';
  if (type !== 'json') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error(`${name} is not JSON.`);
  }
}

function numberOf(text: string, what: string, isWhole = false): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new Error(`${what} is not a number.`);
  if (isWhole && !Number.isInteger(value)) throw new Error(`${what} is not a whole number.`);
  return value;
}

function stepOf({ trafficPercent, soakSeconds, isApproved }: StepRow, index: number): Schemas['StrategyStepDto'] {
  const where = `of step ${index + 1}`;
  return {
    traffic_percent: numberOf(trafficPercent, `The traffic ${where}`, true),
    soak_seconds: numberOf(soakSeconds, `The soak ${where}`, true),
    requires_approval: isApproved,
  };
}

function metricOf({ name, stat, check, limit, minSamples }: MetricRow): Schemas['AnalysisMetricDto'] {
  const most = numberOf(limit, `The limit of ${name}`);
  return {
    name,
    check,
    ...(stat && { stat }),
    ...(check === 'threshold' ? { threshold: most } : { max_regression_percent: most }),
    ...(minSamples && { min_samples: numberOf(minSamples, `The samples of ${name}`, true) }),
  };
}

/** The merge patch (RFC 7386) that makes `to` of `from`. */
export function mergePatch(from: Json, to: Json): Json {
  const patch: Json = {};
  for (const name of Object.keys(from)) if (to[name] === undefined) patch[name] = null;
  for (const [name, value] of Object.entries(to)) {
    const before = from[name];
    if (value === undefined || JSON.stringify(before) === JSON.stringify(value)) continue;
    const isBoth = isObject(before) && isObject(value);
    const inner = isBoth ? mergePatch(before, value) : value;
    if (!isBoth || Object.keys(inner as Json).length > 0) patch[name] = inner;
  }
  return patch;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
