import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import type { PolicyContent } from '@slipway/ports/policies';
import type { Revision } from '@slipway/ports/revisions';
import { frozenPlan } from '../plans/plan-author.js';
import {
  policyOf,
  QUIET_WEEK,
  quietWeek,
  situation,
  SLO,
  specOf,
  type SituationChanges,
} from '../../test/situations.js';
import { timesOf } from '../learning/outcomes.js';
import { draftOf } from './draft.js';
import { evaluate } from './evaluation.js';
import { rangesOf } from './read-ranges.js';
import type { Proposal, ReviewRecords, Situation } from './situation.js';

type Sections = Parameters<typeof policyOf>[0];
type Make = (changes: SituationChanges) => Situation;

interface Case {
  before: Sections;
  /** Differs from `before` only in the field. */
  after: Sections;
  make?: Make;
}

const GPU = { accelerator: 'nvidia-l4', count: 1 };
const EUR = { amount: 0.8, currency: 'EUR' };
const withGpus: Make = (changes) => situation({ devices: GPU, price: EUR, ...changes });
const quietWithGpus: Make = (changes) => quietWeek({ devices: GPU, price: EUR, ...changes });
const failing: Make = (changes) => situation({ service: { failuresIn: () => 0.03 }, ...changes });
const refusing: Make = (changes) =>
  situation({ spec: specOf({ min_replicas: 1 }), service: { refusedMinutes: 100, olderMinutes: 9_880 }, ...changes });
const FREEZE = { start: '2026-06-01T00:00:00Z', end: '2026-06-02T00:00:00Z' };
const p50 = (p50: number) => ({ p50 });
const p95 = (p95: number) => ({ p95 });

/** A situation for each field in which this field alone decides something. */
const CASES: Record<string, Case> = {
  mode: { before: {}, after: { mode: 'observe' } },
  'workload.profile': { before: { workload: { profile: 'chat' } }, after: { workload: { profile: 'rag' } } },
  'workload.request_rate': { before: { workload: { request_rate: 1 } }, after: { workload: { request_rate: 6 } } },
  'workload.concurrency': { before: { workload: { concurrency: 1 } }, after: { workload: { concurrency: 40 } } },
  'workload.input_tokens.p50': {
    before: { workload: { input_tokens: p50(100) } },
    after: { workload: { input_tokens: p50(900) } },
  },
  'workload.input_tokens.p95': {
    before: { workload: { input_tokens: p95(500) } },
    after: { workload: { input_tokens: p95(900) } },
  },
  'workload.output_tokens.p50': {
    before: { workload: { output_tokens: p50(100) } },
    after: { workload: { output_tokens: p50(900) } },
  },
  'workload.output_tokens.p95': {
    before: { workload: { output_tokens: p95(100) } },
    after: { workload: { output_tokens: p95(900) } },
  },
  'objective.metric': {
    before: { objective: { metric: 'gpu_hours_per_mtok', direction: 'minimize' } },
    after: { objective: { metric: 'ttft_ms', direction: 'minimize' } },
    make: quietWithGpus,
  },
  'objective.direction': {
    before: { objective: { metric: 'gpu_hours_per_mtok', direction: 'minimize' } },
    after: { objective: { metric: 'gpu_hours_per_mtok', direction: 'maximize' } },
    make: quietWithGpus,
  },
  'slos[].metric': { before: {}, after: { slos: [{ ...SLO, metric: 'e2e_latency_ms' }] } },
  'slos[].stat': { before: {}, after: { slos: [{ ...SLO, stat: 'p50' }] } },
  'slos[].threshold': { before: {}, after: { slos: [{ ...SLO, threshold: 5_000 }] } },
  'evidence.min_samples': { before: {}, after: { evidence: { min_samples: 100_000 } } },
  'evidence.min_duration_seconds': { before: {}, after: { evidence: { min_duration_seconds: 3_600 } } },
  'evidence.max_age_seconds': { before: {}, after: { evidence: { max_age_seconds: 1_800 } } },
  'evidence.confidence': { before: {}, after: { evidence: { confidence: 0.6 } } },
  'experiment_budget.max_gpu_hours': { before: {}, after: { experiment_budget: { max_gpu_hours: 0 } }, make: withGpus },
  'experiment_budget.max_cost.amount': {
    before: { experiment_budget: { max_cost: { amount: 1_000, currency: 'EUR' } } },
    after: { experiment_budget: { max_cost: { amount: 1, currency: 'EUR' } } },
    make: withGpus,
  },
  'experiment_budget.max_cost.currency': {
    before: { experiment_budget: { max_cost: { amount: 1, currency: 'EUR' } } },
    after: { experiment_budget: { max_cost: { amount: 1, currency: 'USD' } } },
    make: withGpus,
  },
  'experiment_budget.max_experiments': { before: {}, after: { experiment_budget: { max_experiments: 0 } } },
  'experiment_budget.max_traffic_percent': { before: {}, after: { experiment_budget: { max_traffic_percent: 10 } } },
  'experiment_budget.period': { before: {}, after: { experiment_budget: { period: 'day' } }, make: withGpus },
  'experiment_budget.allowed_knobs': { before: {}, after: { experiment_budget: { allowed_knobs: ['model'] } } },
  'reliability.max_error_rate': { before: {}, after: { reliability: { max_error_rate: 0.01 } }, make: failing },
  'reliability.min_availability_percent': {
    before: { slos: [], reliability: { min_availability_percent: 90 } },
    after: { slos: [], reliability: { min_availability_percent: 99.9 } },
    make: refusing,
  },
  'reliability.min_replicas': { before: {}, after: { reliability: { min_replicas: 3 } } },
  'reliability.spare_replicas': { before: {}, after: { reliability: { spare_replicas: 1 } } },
  'reliability.right_size_after_seconds': {
    before: {},
    after: { reliability: { right_size_after_seconds: 1_000_000 } },
    make: quietWeek,
  },
  'reliability.freeze_windows[].start': {
    before: { reliability: { freeze_windows: [FREEZE] } },
    after: { reliability: { freeze_windows: [{ ...FREEZE, start: '2026-06-01T20:00:00Z' }] } },
  },
  'reliability.freeze_windows[].end': {
    before: { reliability: { freeze_windows: [FREEZE] } },
    after: { reliability: { freeze_windows: [{ ...FREEZE, end: '2026-06-01T01:00:00Z' }] } },
  },
  'promotion.approvals_required': { before: {}, after: { promotion: { approvals_required: 2 } } },
  'promotion.prevent_self_approval': { before: {}, after: { promotion: { prevent_self_approval: false } } },
  'promotion.require_hosted_identity': { before: {}, after: { promotion: { require_hosted_identity: true } } },
  'promotion.max_step_percent': { before: {}, after: { promotion: { max_step_percent: 50 } } },
  'promotion.cooldown_seconds': {
    before: {},
    after: { promotion: { cooldown_seconds: 60 } },
    make: (changes) => situation({ history: { lastProposedAt: new Date('2026-06-01T11:00:00Z') }, ...changes }),
  },
  'promotion.plan_ttl_seconds': { before: {}, after: { promotion: { plan_ttl_seconds: 60 } } },
  'promotion.min_gain_percent': {
    before: { objective: { metric: 'gpu_hours_per_mtok', direction: 'minimize' } },
    after: { objective: { metric: 'gpu_hours_per_mtok', direction: 'minimize' }, promotion: { min_gain_percent: 90 } },
    make: quietWithGpus,
  },
  'promotion.outcome_window_seconds': { before: {}, after: { promotion: { outcome_window_seconds: 3_600 } } },
};

/** Fields that decide nothing yet, and why they are kept. */
const EXCEPTIONS: Record<string, string> = {
  'experiment_budget.max_parallel':
    'limits trials, and Slipway runs none yet; max_experiments limits only plans so far',
};

/**
 * Everything that a round does with a policy: what it reads, what it finds, the plan that it would store, and when the
 * outcome of that plan is due.
 */
function decide(sections: Sections, make: Make = situation): string {
  const whole = make({ policy: sections });
  const records = cut(whole.records as ReviewRecords, whole.policy);
  const of = { ...whole, records };
  const { finding, diagnosis, availability } = evaluate(of);
  const plans = finding.kind === 'propose' ? finding.options.map((option) => planOf(of, option)) : [];
  const times = timesOf({ phase: 'window', promotedAt: of.now }, of.policy);
  return JSON.stringify({ finding, diagnosis, availability, plans, times });
}

/** The records that a round would read under the policy. */
function cut(records: ReviewRecords, policy: PolicyContent): ReviewRecords {
  const { window, history, to } = rangesOf(policy, records.to);
  return {
    ...records,
    from: window.from,
    to,
    window: records.history.filter(({ at }) => at >= window.from),
    history: records.history.filter(({ at }) => at >= history.from),
  };
}

function planOf(of: Situation & { records: ReviewRecords }, option: Proposal) {
  const base = { id: 'rev_1', name: 'chat-00001', spec: of.spec, specDigest: 'd' } as Revision;
  const draft = draftOf(option, base, of, evaluate(of));
  const deployment = { id: 'dep_1', name: 'chat' };
  const policy = { deploymentId: 'dep_1', version: 1, content: of.policy };
  return frozenPlan({ deployment, base, policy } as Parameters<typeof frozenPlan>[0], draft, {
    id: 'plan_1',
    now: of.now,
    checked: { body: draft.rollout as Record<string, unknown>, specDigest: 'e' },
    changes: option.changes,
    execution: {} as Parameters<typeof frozenPlan>[2]['execution'],
    creator: { actor: { type: 'system', id: 'autopilot' }, owner: null, minters: [] },
  });
}

interface FieldSchema {
  $ref?: string;
  allOf?: FieldSchema[];
  anyOf?: FieldSchema[];
  type?: string | string[];
  properties?: Record<string, FieldSchema>;
  items?: FieldSchema;
}

/** The single fields of a policy, as the api documents them. */
function fieldsOfPolicy(): string[] {
  const document = JSON.parse(readFileSync(new URL('../../../../sdk/openapi.json', import.meta.url), 'utf8'));
  const schemas = document.components.schemas as Record<string, FieldSchema>;
  const resolved = (schema: FieldSchema): FieldSchema => {
    const ref = schema.$ref ?? [...(schema.allOf ?? []), ...(schema.anyOf ?? [])].find((one) => one.$ref)?.$ref;
    return ref ? (schemas[ref.split('/').at(-1) as string] as FieldSchema) : schema;
  };
  const leaves = (schema: FieldSchema, path: string): string[] => {
    const { properties, items } = resolved(schema);
    if (properties)
      return Object.entries(properties).flatMap(([name, one]) => leaves(one, path ? `${path}.${name}` : name));
    if (items && resolved(items).properties) return leaves(items, `${path}[]`);
    return [path];
  };
  return leaves({ $ref: '#/components/schemas/SetPolicyDto' }, '');
}

const fields = fieldsOfPolicy();

it('knows the fields of the policy', () => {
  expect(fields).toContain('evidence.min_samples');
  expect(fields.length).toBeGreaterThan(30);
});

it.each(fields)('%s changes a decision, or is listed with the reason why not', (field) => {
  const one = CASES[field];
  expect([field, one !== undefined || EXCEPTIONS[field] !== undefined]).toEqual([field, true]);
  if (!one) return;
  expect(EXCEPTIONS[field]).toBeUndefined();
  expect(decide(one.after, one.make)).not.toBe(decide(one.before, one.make));
});

it('has no case for a field that no longer exists', () => {
  const listed = [...Object.keys(CASES), ...Object.keys(EXCEPTIONS)];
  expect(listed.filter((field) => !fields.includes(field))).toEqual([]);
});

it.each(Object.keys(EXCEPTIONS))('%s really changes none', (field) => {
  const [section, name] = field.split('.') as ['experiment_budget', 'max_parallel'];
  expect(decide({ [section]: { [name]: 7 } })).toBe(decide({}));
});

it('needs the same decision for the same policy', () => {
  expect(decide({}, (changes) => quietWeek({ service: QUIET_WEEK, ...changes }))).toBe(
    decide({}, (changes) => quietWeek({ service: QUIET_WEEK, ...changes })),
  );
});
