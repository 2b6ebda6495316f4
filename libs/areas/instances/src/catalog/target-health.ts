import { Logger } from '@nestjs/common';
import { prepared, type Database } from '@slipway/platform-database';
import { gauge } from '@slipway/platform-observability';
import { storableText } from '../workloads/stored-text.js';
import { RepeatedCheck, TroubleLog } from './repeated-check.js';
import type { Target } from './target-catalog.js';
import type { TargetLeadership } from './target-leadership.js';

/** Inserts and updates at once; a worker that takes over what it finds so leaves the time of the change. */
export const RECORD_TARGET_HEALTH = prepared(
  'instances-record-target-health',
  `insert into target_health as h (target, problem) values ($1, $2)
   on conflict (target) do update set problem = excluded.problem, changed_at = now() where h.problem is distinct from excluded.problem`,
);

const UNSAID = 'its driver reports no reason';

const degraded = () =>
  gauge(
    'slipway_target_degraded',
    '1 while a target is degraded, else 0; reported by the worker that leads the target',
    ['target'],
  );

/**
 * Tells everybody whether a target as a whole can be worked with, where its driver knows: the worker that leads the target does. In the log once
 * for each change, in a table for who lists targets, and as a metric.
 */
export class HealthWatch {
  private readonly logger = new Logger('targets');
  private readonly trouble: TroubleLog;
  private readonly checks: RepeatedCheck;
  /** What the log has; a target is taken for well until it says otherwise. */
  private said: string | null = null;
  /** What the table has from this lead; undefined before the first word of it. */
  private noted?: string | null;

  constructor(
    private readonly target: Target,
    private readonly leadership: TargetLeadership,
    private readonly database: Database,
    /** Called when the target is well again: what was waited for can go on. */
    private readonly onWell: () => void,
    everyMs: number,
  ) {
    this.checks = new RepeatedCheck(() => this.trouble.during(this.look()), everyMs);
    this.trouble = new TroubleLog(target, this.logger);
  }

  start(): void {
    if (this.target.driver.health) this.checks.start();
  }

  async stop(): Promise<void> {
    await this.checks.stop();
    this.forget();
  }

  private async look(): Promise<void> {
    const { config, driver } = this.target;
    if (!this.leadership.leads || !driver.health) return this.forget();
    const { state, message = UNSAID } = driver.health();
    const problem = state === 'ok' ? null : storableText(message);
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

  /** Another worker leads, and tells of it. */
  private forget(): void {
    this.noted = undefined;
    this.said = null;
    degraded().remove({ target: this.target.config.name });
  }
}
