import { Inject, Injectable } from '@nestjs/common';
import {
  loadsOf,
  type RevisionLoad,
  type SeriesStep,
  addedCounts,
  emptyLoads,
  histogramsOf,
  readMetric,
  mergeHistograms,
  requestFailures,
  type RequestStats,
} from '@slipway/dataplane';
import { Database, type Tx } from '@slipway/platform-database';
import { errors, type ExistenceCheck, type Principal } from '@slipway/platform-http';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { REVISIONS, type Revision, type RevisionsPort } from '@slipway/ports/revisions';
import pLimit from 'p-limit';
import type {
  DeploymentMetricsDto,
  MetricsQueryDto,
  RevisionMetricsDto,
  DistributionDto,
  MetricsPointDto,
  RateDto,
} from './deployment-metrics.dto.js';
import { rangeIssues, rangeOf, type MetricsRange } from './metrics-range.js';
import { RecentSeries } from './recent-series.js';
import type { Distribution, Metric } from '@slipway/contracts';

const MOST_REVISIONS = 10;
/** Three hours of a busy deployment take Postgres seconds, and other connections must stay free. */
const READS_AT_ONCE = 2;
const READS_IN_WAIT = 50;

type RevisionName = Pick<Revision, 'id' | 'name'>;

/** The records of gateways about the revisions of a deployment: the same rows and the same measures that gates use. */
@Injectable()
export class DeploymentMetricsService implements ExistenceCheck {
  private readonly reads = pLimit(READS_AT_ONCE);
  private readonly recent = new RecentSeries();

  constructor(
    private readonly database: Database,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
  ) {}

  async get({ tenantId }: Principal, name: string, query: MetricsQueryDto): Promise<DeploymentMetricsDto> {
    const deploymentId = await this.deployments.idOf(tenantId, name);
    const question = { about: `${deploymentId} ${query.revision ?? ''}`, isNamed: query.revision !== undefined };
    if (this.reads.pendingCount >= READS_IN_WAIT)
      throw errors.unavailable({
        message: `Too many concurrent requests for metrics: ${READS_IN_WAIT} are already waiting. Retry in 2 s.`,
        headers: { 'retry-after': '2' },
      });
    return this.reads(() =>
      this.database.tx({ tenantId }, async (tx) => {
        const now = await tx.now();
        const details = rangeIssues(query, now);
        if (details.length > 0) throw errors.validation_failed({ message: `${details[0]?.message}.`, details });
        const range = rangeOf(query, now);
        const named = await this.named(tx, deploymentId, query.revision);
        return { deployment: name, ...(await this.read(tx, named, range, question)) };
      }),
    );
  }

  private async read(
    tx: Tx,
    revisions: readonly RevisionName[],
    range: MetricsRange,
    { about, isNamed }: { about: string; isNamed: boolean },
  ): Promise<Omit<DeploymentMetricsDto, 'deployment'>> {
    const { from, to, stepSeconds } = range;
    const revisionIds = revisions.map(({ id }) => id);
    const [{ steps, hasMore, completeUntil }, loads] = await Promise.all([
      this.recent.read(tx, { ...range, about, revisionIds, most: MOST_REVISIONS }),
      loadsOf(tx, revisionIds),
    ]);
    const recorded = { ...range, to: completeUntil && completeUntil < to ? completeUntil : to };
    return {
      from: from.toISOString(),
      to: to.toISOString(),
      step_seconds: stepSeconds,
      complete_until: completeUntil?.toISOString() ?? null,
      has_more: hasMore,
      data: revisions
        .filter(({ id }) => isNamed || steps.has(id))
        .map(({ id, name }) => answerOf(name, loads.get(id), steps.get(id) ?? [], recorded)),
    };
  }

  async assertExists(tenantId: string, params: Record<string, string>): Promise<void> {
    await this.deployments.idOf(tenantId, params['name'] as string);
  }

  private async named(tx: Tx, deploymentId: string, reference: string | undefined): Promise<RevisionName[]> {
    if (reference === undefined) return this.revisions.namesOf(tx, deploymentId);
    return [await this.revisions.find(tx, deploymentId, reference)];
  }
}

function answerOf(
  revision: string,
  load: RevisionLoad | undefined,
  steps: readonly SeriesStep[],
  { from, to, stepSeconds }: MetricsRange,
): RevisionMetricsDto {
  const secondsFrom = (at: Date): number => Math.max(1, Math.floor((to.getTime() - at.getTime()) / 1_000));
  return {
    revision,
    in_flight: load?.in_flight ?? 0,
    held: load?.held ?? 0,
    total: pointOf(addUp(steps, from), secondsFrom(from)),
    points: steps.map((step) => pointOf(step, Math.min(stepSeconds, secondsFrom(step.at)))),
  };
}

/**
 * Returns one step, or the whole time, in the measures that gates use.
 * @param seconds the recorded part of the step, in seconds
 */
export function pointOf({ at, stats, instances }: SeriesStep, seconds: number): MetricsPointDto {
  return {
    at: at.toISOString(),
    seconds,
    attempts: stats.counts,
    requests_per_s: rounded(requestFailures(stats.counts).of / seconds, 3),
    streamed: stats.streamed,
    tokens_in: stats.tokens_in,
    tokens_out: stats.tokens_out,
    tokens_out_per_s: rounded(stats.tokens_out / seconds, 1),
    instances,
    error_rate: rate('error_rate', stats),
    client_error_rate: rate('client_error_rate', stats),
    overloaded_rate: rate('overloaded_rate', stats),
    abandoned_rate: rate('abandoned_rate', stats),
    upstream_fault_rate: rate('upstream_fault_rate', stats),
    ttft_ms: distribution('ttft_ms', stats),
    itl_ms: distribution('itl_ms', stats),
    longest_gap_ms: distribution('longest_gap_ms', stats),
    e2e_latency_ms: distribution('e2e_latency_ms', stats),
    output_tokens_per_s: distribution('output_tokens_per_s', stats),
  };
}

/**
 * Adds all steps up to one.
 * @param at start of the first step, even if that step is absent
 */
export function addUp(steps: readonly SeriesStep[], at: Date): SeriesStep {
  const sum = (pick: (stats: RequestStats) => number): number =>
    steps.reduce((total, { stats }) => total + pick(stats), 0);
  const known = steps.flatMap(({ instances }) => instances ?? []);
  return {
    at,
    instances: known.length === 0 ? null : Math.max(...known),
    stats: {
      counts: addedCounts(steps.map(({ stats }) => stats.counts)),
      streamed: sum(({ streamed }) => streamed),
      tokens_in: sum(({ tokens_in }) => tokens_in),
      tokens_out: sum(({ tokens_out }) => tokens_out),
      ...histogramsOf((metric) => mergeHistograms(steps.map(({ stats }) => stats[metric]))),
      loads: emptyLoads(),
    },
  };
}

function rate(metric: RateName, stats: RequestStats): RateDto {
  const { value, samples } = readMetric(metric, 'rate', stats);
  return { rate: value === null ? null : rounded(value, 6), samples };
}

function distribution(metric: Distribution, stats: RequestStats): DistributionDto {
  const value = (stat: 'avg' | 'p50' | 'p90' | 'p95' | 'p99'): number | null => {
    const measured = readMetric(metric, stat, stats).value;
    return measured === null ? null : rounded(measured, 1);
  };
  const { samples } = readMetric(metric, 'avg', stats);
  return { avg: value('avg'), p50: value('p50'), p90: value('p90'), p95: value('p95'), p99: value('p99'), samples };
}

type RateName = Exclude<Metric, Distribution>;

/** Histograms know a value to within a few percent, so more digits would be misleading. */
function rounded(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
