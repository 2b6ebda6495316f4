import { Inject, Injectable } from '@nestjs/common';
import { loadsOf, type RevisionLoad, type SeriesStep } from '@slipway/dataplane';
import { Database, type Tx } from '@slipway/platform-database';
import { errors, type ExistenceCheck, type Principal } from '@slipway/platform-http';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { REVISIONS, type Revision, type RevisionsPort } from '@slipway/ports/revisions';
import pLimit from 'p-limit';
import type { DeploymentMetricsDto, MetricsQueryDto, RevisionMetricsDto } from './deployment-metrics.dto.js';
import { addUp, pointOf } from './metrics-points.js';
import { rangeIssues, rangeOf, type MetricsRange } from './metrics-range.js';
import { RecentSeries } from './recent-series.js';

const MOST_REVISIONS = 10;
/** Three hours of a busy deployment take Postgres seconds: others of its connections are to stay free. */
const READS_AT_ONCE = 2;
const READS_IN_WAIT = 50;

type RevisionName = Pick<Revision, 'id' | 'name'>;

/** What gateways have recorded about the revisions of a deployment: the same rows, by the same measures, as gates judge. */
@Injectable()
export class DeploymentMetricsService implements ExistenceCheck {
  private readonly turns = pLimit(READS_AT_ONCE);
  private readonly recent = new RecentSeries();

  constructor(
    private readonly database: Database,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
  ) {}

  async get({ tenantId }: Principal, name: string, query: MetricsQueryDto): Promise<DeploymentMetricsDto> {
    const deploymentId = await this.deployments.idOf(tenantId, name);
    const now = new Date();
    const details = rangeIssues(query, now);
    if (details.length > 0) throw errors.validation_failed({ message: `${details[0]?.message}.`, details });
    const range = rangeOf(query, now);
    const asked = { about: `${deploymentId} ${query.revision ?? ''}`, isNamed: query.revision !== undefined };
    if (this.turns.pendingCount >= READS_IN_WAIT)
      throw errors.unavailable({ message: 'Too many ask for metrics at once.', headers: { 'retry-after': '2' } });
    return this.turns(() =>
      this.database.tx({ tenantId }, async (tx) => {
        const named = await this.named(tx, deploymentId, query.revision);
        return { deployment: name, ...(await this.read(tx, named, range, asked)) };
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
