import { Inject, Injectable } from '@nestjs/common';
import { countsBySecond, statsBetween } from '@slipway/dataplane';
import { Database, type Tx } from '@slipway/platform-database';
import { SlipwayError } from '@slipway/platform-http';
import {
  done,
  DurableOperation,
  sleep,
  type OperationOf,
  type StepContext,
  type StepOutcome,
} from '@slipway/platform-durable/operations';
import { ROUTES, type RoutesPort } from '@slipway/ports/routing';
import { judge, type MetricResult } from './gates/analysis.js';
import { floorSecond, LATE_MS, recordedUntil } from './gates/analyst.js';
import { beginWatch, dueChecks, looksOf, watchedShares, watchOn, type WatchState } from './gates/watch.js';
import { BAKE, claimOf, systemPrincipal, type BakeInput } from './bake.js';
import type { StoredGate, Strategy } from './rollout.input.js';
import { RollbacksService } from './rollbacks.service.js';

type BakeContext = StepContext<BakeInput>;

const LOOK_MS = 5_000;

@Injectable()
@DurableOperation(BAKE)
export class BakeOperation implements OperationOf<typeof BAKE> {
  readonly steps = { watch: (context: BakeContext) => this.watch(context) };
  readonly unwind = {};

  constructor(
    private readonly database: Database,
    private readonly rollbacks: RollbacksService,
    @Inject(ROUTES) private readonly routes: RoutesPort,
  ) {}

  private async watch(context: BakeContext): Promise<StepOutcome> {
    const { input, step, state } = context;
    const { deploymentId, generation, bake } = input;
    const found = await this.database.tx('system', async (tx) => {
      const route = await this.routes.current(tx, deploymentId);
      if (route?.generation !== generation) return undefined;
      return this.look(tx, context, state?.['watch'] as WatchState | undefined);
    });
    if (!found) return done({ message: 'The traffic has changed since.', operationResult: { outcome: 'ended' } });
    const { watch, breaches, isEnd } = found;
    if (breaches.length > 0) return this.rollBack(context, breaches);
    if (isEnd) return done({ message: `No breach in ${bake.seconds} s.`, operationResult: { outcome: 'passed' } });
    const leftMs = Math.max(0, bake.seconds * 1_000 + LATE_MS - step.elapsedMs());
    return sleep({
      forMs: Math.min(LOOK_MS, leftMs),
      status: 'waiting',
      waitingFor: 'soak',
      message: `Watching ${input.revisionName} for ${Math.ceil(leftMs / 1_000)} s more.`,
      state: { watch },
    });
  }

  /** Reads the seconds that all gateways have recorded since the last look, and judges them. */
  private async look(
    tx: Tx,
    { input, step }: BakeContext,
    known: WatchState | undefined,
  ): Promise<{ watch: WatchState; breaches: MetricResult[]; isEnd: boolean }> {
    const { revisionId, bake } = input;
    const start = floorSecond(step.startedAt);
    const end = new Date(start.getTime() + bake.seconds * 1_000);
    const isEnd = step.elapsedMs() >= bake.seconds * 1_000 + LATE_MS;
    const latest = await recordedUntil(tx);
    const until = latest > end ? end : latest;
    let watch = known ?? beginWatch(start);
    // The end is judged even if the look before it has read all records.
    if (until <= new Date(watch.until) && !isEnd) return { watch, breaches: [], isEnd };
    const gate: StoredGate = { metrics: bake.metrics, on_failure: 'rollback', on_inconclusive: 'pause' };
    const watched = watchedShares(gate);
    const seconds = await countsBySecond(tx, [revisionId], new Date(watch.until), until);
    watch = watchOn(watch, seconds, { watched, candidateId: revisionId, until });
    const strategy = strategyOf(bake);
    const { watch: next, early } = dueChecks(watch, {
      watched,
      strategy,
      soakSeconds: bake.seconds,
      elapsedMs: step.elapsedMs(),
    });
    const isPlanned = isEnd || (early?.isPlanned ?? false);
    const breaches: MetricResult[] = [];
    const chances = { looks: looksOf(strategy), metrics: bake.metrics.length };
    for (const [index, metric] of bake.metrics.entries()) {
      const isProven = early?.proven.has(`metrics.${index}`) ?? false;
      if (metric.dry_run || !(isProven || isPlanned)) continue;
      const from = new Date(Math.max(start.getTime(), until.getTime() - (metric.window_seconds ?? Infinity) * 1_000));
      const stats = await statsBetween(tx, revisionId, from, until);
      const check = isProven ? { ...metric, min_samples: 1 } : metric;
      const result = judge(check, stats, undefined, chances, { isEarly: !isProven });
      if (result.verdict === 'breached') breaches.push(result);
    }
    return { watch: next, breaches, isEnd };
  }

  /** A repeat finds the rollback that it has begun. */
  private async rollBack({ operation, input, effectKey }: BakeContext, breaches: MetricResult[]): Promise<StepOutcome> {
    const { deploymentName, revisionId, previousRevisionId, generation } = input;
    const found = breaches
      .map(({ metric, stat, candidate, limit }) => `${metric} ${stat} ${candidate.value} (limit ${limit})`)
      .join('; ');
    try {
      const answer = await this.rollbacks.create({
        principal: systemPrincipal(operation.tenantId),
        deploymentName,
        body: { to_revision: previousRevisionId, on_active_operation: 'fail', reason: `The bake found: ${found}` },
        idempotency: claimOf(effectKey, `/api/v1/deployments/${deploymentName}/rollback`),
        isDryRun: false,
        expected: { activeRevisionId: revisionId, generation },
      });
      const id = String(answer.headers?.['location']).split('/').at(-1);
      return done({
        message: `Rolling back: ${found}`,
        evidence: { metrics: breaches },
        operationResult: { outcome: 'rolled_back', rollback_operation_id: id },
      });
    } catch (refusal) {
      if (!(refusal instanceof SlipwayError) || refusal.status >= 500) throw refusal;
      return done({
        message: `Found: ${found}. No rollback: ${refusal.message}`,
        evidence: { metrics: breaches },
        operationResult: { outcome: 'ended' },
      });
    }
  }
}

/** A bake is judged as the one soak of a strategy. */
function strategyOf({ seconds }: BakeInput['bake']): Strategy {
  return { type: 'immediate', steps: [{ traffic_percent: 100, soak_seconds: seconds, requires_approval: false }] };
}
