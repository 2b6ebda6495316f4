import { Logger } from '@nestjs/common';
import { prepared, type Database } from '@slipway/platform-database';
import type { TargetHealth } from '@slipway/target-driver';
import { gauge } from '@slipway/platform-observability';
import { storableText } from '../workloads/stored-text.js';
import { RepeatedCheck, TroubleLog } from './repeated-check.js';
import type { Target } from './target-catalog.js';
import type { TargetLeadership } from './target-leadership.js';

/** Inserts or updates the health. A worker that takes over and finds the same problem keeps the time of the change. */
export const RECORD_TARGET_HEALTH = prepared(
  'instances-record-target-health',
  `insert into target_health as h (target, problem) values ($1, $2)
   on conflict (target) do update set problem = excluded.problem, changed_at = now() where h.problem is distinct from excluded.problem`,
);

const UNSAID = 'its driver reports no reason';

/** Enough for several kinds of objects with a server's words for each. */
const MOST_CHARACTERS = 2_000;

/** Returns everything that a person should fix; null for nothing. */
function problemOf({ state, message = UNSAID, refused }: TargetHealth): string | null {
  const problems = [...(state === 'ok' ? [] : [message]), ...(refused === undefined ? [] : [refused])];
  return problems.length === 0 ? null : storableText(problems.join(' '), MOST_CHARACTERS);
}

const degraded = () =>
  gauge(
    'slipway_target_degraded',
    '1 while a target is degraded, else 0; reported by the worker that leads the target',
    ['target'],
  );

/**
 * Reports whether a target as a whole works, if its driver knows. The worker that leads the target does this: in the
 * log once for each change, in a table for the list of targets, and as a metric.
 */
export class HealthWatch {
  private readonly logger = new Logger('targets');
  private readonly trouble: TroubleLog;
  private readonly checks: RepeatedCheck;
  /** The last state in the log. A target counts as healthy until its driver reports otherwise. */
  private said: string | null = null;
  /** The state that this worker last wrote to the table during this lead; undefined before the first write. */
  private noted?: string | null;

  constructor(
    private readonly target: Target,
    private readonly leadership: TargetLeadership,
    private readonly database: Database,
    /** Called when the target has recovered, so that waiting work can continue. */
    private readonly onWell: () => void,
    everyMs: number,
  ) {
    this.checks = new RepeatedCheck(() => this.trouble.during(this.look()), everyMs);
    this.trouble = new TroubleLog(target, this.logger);
  }

  start(): void {
    if (this.target.driver.health) this.checks.start();
    // So that the metric shows every target.
    else degraded().set({ target: this.target.config.name }, 0);
  }

  async stop(): Promise<void> {
    await this.checks.stop();
    this.forget();
  }

  private async look(): Promise<void> {
    const { config, driver } = this.target;
    if (!this.leadership.leads || !driver.health) return this.forget();
    const problem = problemOf(driver.health());
    degraded().set({ target: config.name }, problem === null ? 0 : 1);
    this.say(problem);
    if (problem === this.noted) return;
    await this.database.tx('system', (tx) => tx.query(RECORD_TARGET_HEALTH, [config.name, problem]));
    this.noted = problem;
  }

  private say(problem: string | null): void {
    if (problem === this.said) return;
    this.said = problem;
    const { name } = this.target.config;
    if (problem !== null) {
      this.logger.warn(`target ${name} is degraded: ${problem}`);
      return;
    }
    this.logger.log(`target ${name} has recovered`);
    this.onWell();
  }

  /** Forgets the state, because another worker leads and reports it. */
  private forget(): void {
    this.noted = undefined;
    this.said = null;
    degraded().remove({ target: this.target.config.name });
  }
}
