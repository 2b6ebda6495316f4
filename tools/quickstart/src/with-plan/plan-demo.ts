import { setTimeout as delay } from 'node:timers/promises';
import { OperationFailed, type BodyOf, type Slipway } from '@slipway/sdk';
import { failureText } from '../demo/failure-text.js';
import type { Narrator, OperationProgress } from '../demo/narrator.js';
import { commandsFor, outcomeLines, planLines, type Plan } from './plan-text.js';
import type { RequestLoad } from './request-load.js';

/**
 * One request alone takes about 420 ms: ten iterations of 20 ms, and 20 ms more for each token. Two at the same time
 * take 620 ms, and one instance completes at most five a second, however many wait.
 */
export const ENGINE_ARGS = { max_num_seqs: 32, step_ms: 20, token_us: 20_000, tokens: 10 };

/** Requests per second: an instance that is mostly idle, and one that is never idle. Two of them are half as busy. */
export const RATES = { quiet: 2, busy: 4.5 };

/**
 * The shortest times that give a plan. Records are of whole minutes, so a minute is judged; the rollout soaks for
 * `min_duration_seconds` at each step. A median needs few samples.
 */
export const POLICY: BodyOf<'setContinualOptimizationPolicy'> = {
  slos: [{ metric: 'e2e_latency_ms', stat: 'p50', threshold: 1_000 }],
  evidence: { min_samples: 20, min_duration_seconds: 30 },
  experiment_budget: { max_traffic_percent: 50 },
  promotion: { max_step_percent: 50 },
};

/** How long each part lasts or may last. */
export interface PlanDemoTimes {
  /** An instance counts as starting for its first minute and its first 100 requests, which show nothing about load. */
  quietMs: number;
  /** Length of a record. */
  minuteMs: number;
  planMs: number;
  /** How long the demonstration waits for the reader. */
  readerMs: number;
  rolloutMs: number;
  outcomeMs: number;
  pollMs: number;
}

export const planDemoTimes = (isOnce: boolean): PlanDemoTimes => ({
  quietMs: 90_000,
  minuteMs: 60_000,
  planMs: 240_000,
  readerMs: isOnce ? 300_000 : 3_600_000,
  rolloutMs: 300_000,
  outcomeMs: 240_000,
  pollMs: 1_000,
});

export interface PlanDemoOptions {
  slipway: Slipway;
  narrator: Narrator;
  load: Pick<RequestLoad, 'setRate' | 'stop' | 'assertAnswered'>;
  /** Name of the deployment. */
  name: string;
  labels: Record<string, string>;
  /** Undefined if the console is off. */
  consoleUrl: string | undefined;
  times: PlanDemoTimes;
  signal: AbortSignal;
}

/**
 * Continues with a deployment that misses its SLO because of its load, up to the outcome of the plan that the reader
 * approves and executes. The requests end with it.
 * @throws Error if a part does not end well, with what to do
 */
export async function demonstratePlan(options: PlanDemoOptions): Promise<void> {
  try {
    await new PlanDemo(options).run();
  } finally {
    await options.load.stop();
  }
}

class PlanDemo {
  constructor(private readonly options: PlanDemoOptions) {}

  async run(): Promise<void> {
    await this.deploy();
    await this.sendRequests();
    const plan = await this.waitForPlan();
    const operationId = await this.waitForReader(plan);
    await this.followRollout(plan, operationId);
    await this.showOutcome(plan);
  }

  private async deploy(): Promise<void> {
    const { slipway, narrator, name, labels, times } = this.options;
    narrator.heading(`7. Create a deployment with an SLO (${name})`);
    await slipway.deployments.create({ name, display_name: 'Quickstart with a plan', labels });
    const { operation } = await slipway.deployments.rollouts.create(name, {
      spec: { model: { id: 'demo-busy' }, runtime: { target: 'local', engine: 'sim', args: ENGINE_ARGS } },
      strategy: { type: 'immediate' },
      reason: 'quickstart: one instance',
    });
    await slipway.operations.wait(operation.id, { ...this.following(), limitMs: times.rolloutMs });
    await slipway.deployments.policy.set(name, POLICY);
    narrator.line('  policy: half of the requests take at most 1,000 ms (e2e_latency_ms p50)');
  }

  private async sendRequests(): Promise<void> {
    const { narrator, load, times, signal } = this.options;
    const busyAt = busyTime(Date.now() + times.quietMs, times.minuteMs);
    narrator.heading(`8. Send ${RATES.quiet} requests a second, so that low loads are seen`);
    load.setRate(RATES.quiet);
    while (Date.now() < busyAt) {
      load.assertAnswered();
      narrator.passing('  More requests will follow', ` in ${secondsText(busyAt - Date.now())}`);
      await delay(Math.min(times.pollMs, busyAt - Date.now()), undefined, { signal });
    }
    narrator.heading(`9. Send ${RATES.busy} requests a second, too many for one instance`);
    load.setRate(RATES.busy);
  }

  private async waitForPlan(): Promise<Plan> {
    const { slipway, name, times } = this.options;
    const found = await this.poll(times.planMs, 'Waiting for the autopilot, which judges whole minutes', async () => {
      return (await slipway.autopilot.plans.list({ deployment: name, limit: 1 })).data[0];
    });
    if (found) return found;
    const { decision } = await slipway.autopilot.diagnosis.get(name);
    const why = decision ? ` Its last decision: ${decision.message}` : ' It has decided nothing yet.';
    throw new Error(
      `the autopilot wrote no plan within ${secondsText(times.planMs)}.${why}\n  A machine that is busy with other work changes the times of requests: end that work, and run this command again.`,
    );
  }

  private async waitForReader(plan: Plan): Promise<string> {
    const { narrator, consoleUrl, times } = this.options;
    narrator.heading('10. Decide about the plan of the autopilot');
    for (const line of planLines(plan, consoleUrl)) narrator.line(line);
    const [approve, execute] = commandsFor(plan);
    narrator.line('\n  It changes nothing by itself. In another shell, approve it and then execute it:');
    narrator.line(`    ${approve}`);
    narrator.line(`    ${execute}`);
    let isApproved = false;
    const operationId = await this.poll(
      times.readerMs,
      () => (isApproved ? 'Approved. Waiting for its execution' : 'Waiting for the approval'),
      async () => {
        const now = await this.openPlan(plan);
        if (now.approval.state === 'approved' && !isApproved) narrator.line('  approved');
        isApproved = now.approval.state === 'approved';
        return isApproved ? this.executionOf(plan) : undefined;
      },
    );
    if (operationId !== undefined) return operationId;
    throw new Error(
      `the plan was not ${isApproved ? 'executed' : 'approved'} within ${secondsText(times.readerMs)}. Run this command again, and type the commands that it prints while it waits.`,
    );
  }

  /** @throws Error if the plan can no longer be executed */
  private async openPlan({ id }: Plan): Promise<Plan> {
    const plan = await this.options.slipway.autopilot.plans.get(id);
    const { state, ended } = plan.approval;
    if (state !== 'pending' && state !== 'approved')
      throw new Error(
        `the plan ${state === 'expired' ? 'has expired' : `was ${state}`}${ended?.comment ? ` (${ended.comment})` : ''}, so it is not executed. Run this command again for another plan.`,
      );
    // A rollout that has ended makes its own plan stale too.
    if (plan.stale && (await this.executionOf(plan)) === undefined)
      throw new Error(
        'another revision became active, so the plan is stale and cannot be executed. Run this command again for another plan.',
      );
    return plan;
  }

  /** Returns the rollout that executes the plan. A rollout of the reader's own is none, whatever it changes. */
  private async executionOf({ id, deployment }: Plan): Promise<string | undefined> {
    const { data } = await this.options.slipway.deployments.revisions.list(deployment, { limit: 200 });
    return data.find(({ source }) => source.plan_id === id)?.source.operation_id ?? undefined;
  }

  private async followRollout(plan: Plan, operationId: string): Promise<void> {
    const { slipway, narrator, name, times } = this.options;
    narrator.heading('11. Follow the rollout; the requests continue');
    await slipway.operations
      .wait(operationId, { ...this.following(), limitMs: times.rolloutMs, signal: this.options.signal })
      .catch((failure: unknown) => {
        const isEnded = failure instanceof OperationFailed;
        throw new Error(
          `${isEnded ? 'the plan was not carried out, and the earlier revision serves' : 'the rollout of the plan did not end'}: ${failureText(failure)}\n  Run this command again, or read it with \`npx slipway operations get ${operationId}\` while \`npm start\` runs.`,
        );
      });
    const { active_revision } = await slipway.deployments.get(name);
    const revision = active_revision === null ? null : await slipway.deployments.revisions.get(name, active_revision);
    if (revision?.source.plan_id !== plan.id)
      throw new Error(
        `${active_revision ?? 'no revision'} is active, which does not come from the plan. Run this command again.`,
      );
    narrator.line(`  ${active_revision} serves all requests`);
  }

  private async showOutcome(plan: Plan): Promise<void> {
    const { slipway, narrator, times } = this.options;
    narrator.heading('12. Compare what the plan achieved with its prediction');
    const done = await this.poll(times.outcomeMs, 'Waiting for a minute of requests', async () => {
      const now = await slipway.autopilot.plans.get(plan.id);
      return now.outcomes.length > 0 ? now : undefined;
    });
    if (!done)
      throw new Error(
        `no outcome was recorded within ${secondsText(times.outcomeMs)}. Read it later with \`npx slipway plans show ${plan.id}\` while \`npm start\` runs.`,
      );
    for (const line of outcomeLines(done)) narrator.line(line);
  }

  /** @returns undefined if nothing was found in time */
  private async poll<T>(
    limitMs: number,
    what: string | (() => string),
    read: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const { load, narrator, times, signal } = this.options;
    const startedAt = performance.now();
    for (;;) {
      const found = await read();
      if (found !== undefined) return found;
      const passedMs = performance.now() - startedAt;
      if (passedMs >= limitMs) return undefined;
      load.assertAnswered();
      narrator.passing(`  ${typeof what === 'string' ? what : what()} …`, ` ${secondsText(passedMs)}`);
      await delay(times.pollMs, undefined, { signal });
    }
  }

  private following() {
    const { narrator, times, name } = this.options;
    let isWaiting = false;
    return {
      pollMs: times.pollMs,
      onStep: (_: unknown, now: OperationProgress): void => narrator.operation(now),
      onRecord: ({ waiting_for: reason, message }: { waiting_for: string | null; message: string }): void => {
        const isForPerson = reason === 'decision' || reason === 'approval' || reason === 'resume';
        if (isForPerson && !isWaiting) {
          narrator.line(`  It waits for you: ${message}`);
          narrator.line(
            `  Continue with \`npx slipway rollouts promote ${name}\`, or stop it with \`npx slipway rollouts abort ${name}\`.`,
          );
        }
        isWaiting = isForPerson;
      },
    };
  }
}

/** Records are of whole minutes, so a minute in which the load begins late would be judged with little of it. */
export function busyTime(earliest: number, minuteMs: number): number {
  const intoMinute = earliest % minuteMs;
  return intoMinute <= minuteMs / 4 ? earliest : earliest - intoMinute + minuteMs;
}

function secondsText(ms: number): string {
  return `${Math.max(0, Math.round(ms / 1_000))} s`;
}
