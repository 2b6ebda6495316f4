import { Inject, Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import {
  Subscription,
  type EventSubscriber,
  type NewEvent,
  type ReceivedEvent,
} from '@slipway/platform-durable/events';
import { SlipwayError } from '@slipway/platform-http';
import type { Deployment } from '@slipway/ports/deployment-records';
import { PLAN_OUTCOMES, type DueOutcome, type OutcomeRecord, type PlanOutcomesPort } from '@slipway/ports/plans';
import type { Policy } from '@slipway/ports/policies';
import type { Revision } from '@slipway/ports/revisions';
import { PlanAuthor } from '../plans/plan-author.js';
import { AUTOPILOT_ACTOR } from '../rounds/findings.js';
import { RecordsReader } from '../rounds/records-reader.js';
import { outcomesOf, timesOf, type ServedSince } from './outcomes.js';
import { revertDraft } from './revert.js';

/** Least and most seconds until samples are counted again. */
const WAIT_SECONDS = { least: 1, most: 600 };
const LOOKS_PER_WINDOW = 6;

/** A plan whose outcome is due, with what its revision has served. */
export interface ExecutedRecords {
  plan: DueOutcome;
  served: ServedSince | undefined;
}

/** Notes the end of each rollout that executes a plan, so that rounds know which outcomes are due. */
@Injectable()
@Subscription({ name: 'autopilot-executions', types: ['rollout.promoted', 'rollout.reverted'] })
export class ExecutionWatch implements EventSubscriber {
  constructor(@Inject(PLAN_OUTCOMES) private readonly outcomes: PlanOutcomesPort) {}

  async receive(tx: Tx, { tenantId, type, revisionId, data }: ReceivedEvent): Promise<void> {
    const planId = data['plan_id'];
    if (typeof planId !== 'string' || revisionId === null) return;
    await this.outcomes.executed(tx, { tenantId, planId, revisionId, isPromoted: type === 'rollout.promoted' });
  }
}

/** Records outcomes of executed plans and reverts bad ones. All of it is written in the transaction of the round. */
@Injectable()
export class OutcomeRecorder {
  constructor(
    private readonly reader: RecordsReader,
    private readonly author: PlanAuthor,
    @Inject(PLAN_OUTCOMES) private readonly outcomes: PlanOutcomesPort,
  ) {}

  /** Reads before the deployment is locked, because that can take a while. */
  async read(tx: Tx, deployment: Pick<Deployment, 'id' | 'activeRevisionId'>): Promise<ExecutedRecords[]> {
    const all: ExecutedRecords[] = [];
    for (const plan of await this.outcomes.due(tx, deployment.id, deployment.activeRevisionId)) {
      const { promotedAt, revisionId } = plan;
      const isServing = promotedAt !== null && revisionId === deployment.activeRevisionId;
      all.push({ plan, served: isServing ? await this.reader.since(tx, revisionId, promotedAt) : undefined });
    }
    return all;
  }

  /**
   * Records each outcome that has enough samples, or whose time is over. The caller holds the deployment's lock.
   * @returns the events to append
   */
  async record(
    tx: Tx,
    { deployment, policy, executed }: LearningSubject & { executed: readonly ExecutedRecords[] },
  ): Promise<NewEvent[]> {
    const now = await tx.now();
    const events: NewEvent[] = [];
    for (const { plan, served } of executed) {
      const isActive = plan.revisionId === deployment.activeRevisionId;
      const record = outcomesOf(plan, { now, policy: policy.content, isActive, served });
      if (!record) await this.outcomes.postpone(tx, plan, secondsUntil(plan, policy, now));
      else if ((await this.outcomes.record(tx, plan, record)) && record.outcomes.length > 0)
        events.push(outcomeEvent(plan, record));
    }
    return events;
  }

  /**
   * Writes the plan that takes back one that made things worse. Its author checks it like every plan; a policy that
   * forbids its changes is asked again in the next round.
   */
  async revert(
    tx: Tx,
    subject: LearningSubject & { base: Revision },
  ): Promise<{ id: string; summary: string } | undefined> {
    const { deployment, base, policy } = subject;
    const plan = await this.outcomes.toRevert(tx, deployment.id, base.id);
    if (!plan) return undefined;
    const draft = revertDraft(plan, base, policy.content);
    try {
      const { id } = await this.author.write(tx, subject, draft, { actor: AUTOPILOT_ACTOR, owner: null, minters: [] });
      await this.outcomes.reverted(tx, plan.planId, id);
      return { id, summary: draft.summary };
    } catch (refusal) {
      if (refusal instanceof SlipwayError && refusal.code === 'validation_failed') return undefined;
      throw refusal;
    }
  }
}

interface LearningSubject {
  deployment: Deployment;
  policy: Policy;
}

function secondsUntil(plan: DueOutcome, { content }: Policy, now: Date): number {
  const left = (timesOf(plan, content).from.getTime() - now.getTime()) / 1_000;
  if (left > 0) return left;
  const wait = content.evidence.min_duration_seconds / LOOKS_PER_WINDOW;
  return Math.min(WAIT_SECONDS.most, Math.max(WAIT_SECONDS.least, wait));
}

function outcomeEvent(
  { planId, contentDigest, phase, revisionId }: DueOutcome,
  { outcomes, assumptionsHold }: OutcomeRecord,
): NewEvent {
  return {
    type: 'plan.outcome_recorded',
    subject: `plans/${planId}`,
    actor: AUTOPILOT_ACTOR,
    revisionId,
    data: {
      plan_id: planId,
      content_digest: contentDigest,
      phase,
      outcomes: outcomes.map(({ metric, stat, predicted, achieved, within, result }) => ({
        metric,
        stat,
        predicted,
        achieved,
        within,
        result,
      })),
      assumptions_hold: assumptionsHold,
    },
  };
}
