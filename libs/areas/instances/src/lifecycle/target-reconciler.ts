import { Logger } from '@nestjs/common';
import { shareOf } from '@slipway/platform-config';
import type { Database } from '@slipway/platform-database';
import type { UnitLocation } from '@slipway/target-driver';
import { Not } from 'typeorm';
import { InstanceEntity, type LifecycleState } from '../workloads/instance.entity.js';
import type { InstanceRow } from '../workloads/instance.query.js';
import { hasNeighbours } from '../workloads/target-share.js';
import type { InstanceKeeper } from './instance-keeper.js';
import type { InstanceTransitions } from './instance-transitions.js';
import { planPass, TaskQueues, type InstanceTask, type TaskKind } from './pass-plan.js';
import { Preparations } from './preparations.js';
import type { Target } from '../catalog/target-catalog.js';
import { UnknownUnitsRecord } from '../catalog/unknown-units.js';
import { distinctLocations } from '../workloads/unit-locations.js';
import { countTargetError } from '../catalog/repeated-check.js';
import type { TargetLeadership } from '../catalog/target-leadership.js';
import { addInstances, TargetRows, wakeWaiters } from './target-rows.js';
import { DEFAULT_INSTANCE_TIMINGS, type InstanceTimings } from '../catalog/timings.js';

const POLL_MS = 500;
/** If the target reports changes, a check of all rows is only a safety net. */
const QUIET_POLL_MS = 5_000;
/**
 * A check without a report waits this long for others that are due soon. With thousands of instances, each check would
 * otherwise be a separate pass.
 */
const GATHER_CHECKS_MS = 2_500;
const RETRY_MS = 500;
/**
 * On a target that reports changes, the gap after a pass is twice as long as the pass, so that many concurrent changes
 * are handled in one pass. The gap is bounded, because a pass that hung on a Postgres that vanished says nothing about
 * the number of rows.
 */
const GAP_MS = 100;
const GAPS_OF_A_PASS = 2;
const LONGEST_GAP_MS = 2_000;

interface NextCheck {
  /** The row version and the task that it is for. If either has changed, the task runs without waiting. */
  version: number;
  kind: TaskKind;
  dueAt: number;
  /** Whether no report requested it, so that it may be somewhat late. */
  isSafetyNet: boolean;
}

/**
 * Makes one target match its tables, for as long as it runs: a pass reads everything, plans, and starts the tasks that
 * are due. A pass follows a notification, a task that changed something, or half a second. Tasks run concurrently with
 * the passes, one at a time for each instance, so a probe that hangs delays nothing else.
 *
 * If the target reports which instances have changed, a pass reads only those. The cost of a change must not grow with
 * the number of other instances. Decisions that need all rows (which instance has capacity, which may be stopped) wait
 * for a whole pass.
 */
export class TargetReconciler {
  private readonly logger = new Logger('targets');
  private readonly running = new Map<string, Promise<void>>();
  private readonly nextChecks = new Map<string, NextCheck>();
  /** Instances whose change the target reported, until a check of them begins. */
  private readonly changed = new Set<string>();
  private loop?: Promise<void>;
  private isStopping = false;
  private isKicked = false;
  private interrupt?: () => void;
  private isWholeDue = true;
  private wholeAt = 0;
  private orphansAt = 0;
  private readonly pollMs: number;
  /** Only for a target that reports changes. */
  private readonly queues?: TaskQueues;
  private readonly preparations: Preparations;
  private readonly rows: TargetRows;
  private readonly unknown: UnknownUnitsRecord;
  /**
   * The last problem of each task. While Postgres is down everything fails in the same way, and one warning is enough.
   */
  private readonly troubles = new Map<string, string>();

  constructor(
    private readonly target: Target,
    private readonly leadership: TargetLeadership,
    private readonly database: Database,
    private readonly transitions: InstanceTransitions,
    private readonly keeper: InstanceKeeper,
    private readonly timings: Pick<InstanceTimings, 'orphanSearchMs'> = DEFAULT_INSTANCE_TIMINGS,
    /** The names of all targets that this process knows. */
    targets: () => ReadonlySet<string> = () => new Set(),
  ) {
    this.unknown = new UnknownUnitsRecord(target, database, targets);
    this.preparations = new Preparations(target.driver, database);
    this.rows = new TargetRows(database, target.config.name);
    this.pollMs = target.driver.onChange ? QUIET_POLL_MS : POLL_MS;
    if (target.driver.onChange) this.queues = new TaskQueues();
  }

  start(): void {
    this.target.driver.onChange?.((instanceId) => this.noteChange(instanceId));
    this.loop = this.run();
  }

  kick(): void {
    this.isWholeDue = true;
    this.wake();
  }

  private wake(): void {
    this.isKicked = true;
    this.interrupt?.();
  }

  /** Handles a report that an instance has changed: it is checked now, whenever its next check is due. */
  private noteChange(instanceId: string): void {
    // Every worker gets the report, and only the leader checks. A new leader checks everything.
    if (!this.leadership.leads) return;
    this.changed.add(instanceId);
    this.wake();
  }

  /**
   * Stops the reconciler. Instances continue to run: tasks in progress are finished, and the next leader takes over.
   */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.interrupt?.();
    await this.loop;
    await Promise.all(this.running.values());
    await this.leadership.resign();
  }

  private get name(): string {
    return this.target.config.name;
  }

  private async run(): Promise<void> {
    while (!this.isStopping) {
      this.isKicked = false;
      let waitMs = POLL_MS;
      const beganAt = performance.now();
      try {
        if (await this.leadership.isHeld()) waitMs = await this.pass();
        // Observations of an earlier lead are not valid in the next one.
        else {
          this.forgetAllBut([]);
          this.isWholeDue = true;
        }
        this.troubles.delete('pass');
      } catch (error) {
        this.complain('pass', error);
      }
      const gapMs = this.queues ? gapAfter(performance.now() - beganAt) : 0;
      if (gapMs > 0) await this.pause(gapMs, false);
      await this.pause(Math.max(0, waitMs - gapMs), true);
    }
  }

  /** Returns the milliseconds until something is due. */
  private async pass(): Promise<number> {
    await wakeWaiters(this.database, this.name);
    if (!this.isWholeDue && performance.now() < this.wholeAt) await this.lookAtChanged();
    else {
      this.isWholeDue = false;
      // A pass that fails is due again.
      this.wholeAt = 0;
      this.wholeAt = performance.now() + (await this.lookAtAll());
    }
    return Math.max(0, this.wholeAt - performance.now());
  }

  private async lookAtAll(): Promise<number> {
    // A task that ends while the rows are read may have changed one of them after it was read.
    const wasBusy = new Set(this.running.keys());
    const { config } = this.target;
    const hasSecondTenant = await hasNeighbours(this.database, [config]);
    const plan = planPass(
      await this.rows.all(),
      config.max_instances ?? Number.POSITIVE_INFINITY,
      (tenantName) => shareOf(config, tenantName, hasSecondTenant).instances,
    );
    if (plan.missing.length > 0) {
      await addInstances(this.database, this.name, plan.missing);
      return 0;
    }
    this.forgetAllBut(plan.tasks);
    const waitMs = this.launchDue(plan.tasks, wasBusy);
    for (const workload of plan.evicted)
      this.launchOnce(`evict ${workload.revision_id}`, () => this.transitions.evict(workload));
    for (const workload of plan.retirable)
      this.launchOnce(`retire ${workload.revision_id}`, () => this.transitions.retire(workload));
    this.launchOnce('preparations', () => this.preparations.look().then(() => false));
    if (!this.target.driver.adopts && performance.now() >= this.orphansAt) {
      this.orphansAt = performance.now() + this.timings.orphanSearchMs;
      this.launchOnce('orphans', () => this.terminateOrphans());
    }
    return waitMs;
  }

  private async lookAtChanged(): Promise<void> {
    const told = [...this.changed];
    if (told.length === 0) return;
    const wasBusy = new Set(this.running.keys());
    const plan = planPass(await this.rows.of(told), Number.POSITIVE_INFINITY);
    const tasks = plan.tasks.filter(({ instance }) => this.changed.has(instance.id));
    const own = tasks.filter(({ instance }) => !needsCapacity(instance));
    this.wholeAt = Math.min(this.wholeAt, performance.now() + this.launchDue(own, wasBusy));
    if (own.length < tasks.length) this.kick();
    // An instance without a task needs no check. One that needs capacity is handled by the whole pass that follows.
    const kept = new Set(own.map(({ instance }) => instance.id));
    for (const id of told) if (!kept.has(id)) this.changed.delete(id);
  }

  /** Returns the milliseconds until the next of them is due. */
  private launchDue(tasks: readonly InstanceTask[], wasBusy: ReadonlySet<string>): number {
    let waitMs = this.pollMs;
    for (const task of tasks) {
      if (wasBusy.has(task.instance.id) || this.running.has(task.instance.id)) continue;
      const dueInMs = this.dueInMs(task);
      if (dueInMs <= 0) this.launch(task);
      else waitMs = Math.min(waitMs, dueInMs);
    }
    return waitMs;
  }

  private dueInMs({ kind, instance, inMs }: InstanceTask): number {
    const look = this.nextChecks.get(instance.id);
    const isOther = look?.version !== instance.version || look.kind !== kind;
    if (isOther || this.changed.has(instance.id)) return inMs;
    const lookInMs = look.dueAt - performance.now();
    return Math.max(inMs, look.isSafetyNet && lookInMs > 0 ? lookInMs + GATHER_CHECKS_MS : lookInMs);
  }

  private launch(task: InstanceTask): void {
    const { id, version } = task.instance;
    let inMs = RETRY_MS;
    const perform = async () => {
      this.changed.delete(id);
      try {
        inMs = await this.keeper.perform(task, this.target.driver);
      } finally {
        const isSafetyNet = inMs >= QUIET_POLL_MS;
        this.nextChecks.set(id, { version, kind: task.kind, dueAt: performance.now() + inMs, isSafetyNet });
      }
      return inMs < POLL_MS || this.changed.has(id);
    };
    // The result of a check concerns no other instance, and a start takes only the capacity that the plan gave it.
    const isOwn = () => task.kind === 'start' || (task.kind === 'look' && (inMs === 0 || inMs >= POLL_MS));
    const next = () => (this.queues && isOwn() ? this.noteChange(id) : this.kick());
    this.launchOnce(id, () => this.queues?.run(task.kind, perform) ?? perform(), next);
  }

  /** @param work returns whether `next` should follow at once */
  private launchOnce(key: string, work: () => Promise<boolean>, next = () => this.kick()): void {
    if (this.running.has(key)) return;
    const done = work()
      .then((isMore) => {
        this.troubles.delete(key);
        return isMore;
      })
      .catch((error: unknown) => this.complain(key, error))
      .then((isMore) => {
        this.running.delete(key);
        if (isMore) next();
      });
    this.running.set(key, done);
  }

  /**
   * Stops instances of this target that no row wants: left by a database that was restored or replaced, or by a late
   * start. It lists the target before it reads the states, because a row is always written before its instance starts.
   * Units of other targets are only recorded for `GET /targets`: their rows may be in another database.
   */
  private async terminateOrphans(): Promise<boolean> {
    const { driver } = this.target;
    const locations = await this.locations();
    const found = await driver.list(locations);
    if (found.length > 0) {
      // A stopped row has no running instance, so an instance with its id is an orphan.
      const where = { target: this.name, state: Not<LifecycleState>('stopped') };
      const rows = await this.database.tx('system', (tx) =>
        tx.repository(InstanceEntity).find({ select: { id: true }, where }),
      );
      const known = new Set(rows.map(({ id }) => id));
      for (const { instanceId } of found.filter((one) => !known.has(one.instanceId))) {
        this.logger.warn(`stopping ${instanceId} on target ${this.name}, because no workload needs it`);
        await driver.terminate(instanceId, locations);
      }
    }
    await this.unknown.record();
    return false;
  }

  /** Where instances of the target were made, also those that have stopped. */
  private async locations(): Promise<UnitLocation[]> {
    const rows = await this.database.tx('system', (tx) =>
      tx
        .repository(InstanceEntity)
        .createQueryBuilder('i')
        .select('distinct i.made_at', 'made_at')
        .where('i.target = :target', { target: this.name })
        .getRawMany<{ made_at: UnitLocation[] | null }>(),
    );
    return distinctLocations(rows.map(({ made_at }) => made_at));
  }

  private forgetAllBut(tasks: readonly InstanceTask[]): void {
    const kept = new Set(tasks.map(({ instance }) => instance.id));
    for (const id of this.nextChecks.keys()) if (!kept.has(id)) this.nextChecks.delete(id);
    for (const id of this.changed) if (!kept.has(id)) this.changed.delete(id);
    for (const id of this.troubles.keys()) if (id.startsWith('ins_') && !kept.has(id)) this.troubles.delete(id);
  }

  /** Pauses until the time has passed or the reconciler is stopped. If `endsByKick`, a kick ends it too. */
  private async pause(waitMs: number, endsByKick: boolean): Promise<void> {
    if (this.isStopping || (endsByKick && this.isKicked)) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(end, waitMs);
      this.interrupt = () => {
        if (endsByKick || this.isStopping) end();
      };
    });
    this.interrupt = undefined;
  }

  private complain(what: string, error: unknown): false {
    countTargetError(this.name);
    const trouble = error instanceof Error ? error.message : String(error);
    if (trouble !== this.troubles.get(what)) this.logger.warn(`target ${this.name}, ${what}: ${trouble}`);
    this.troubles.set(what, trouble);
    return false;
  }
}

/** Whether it begins to take up capacity of its target. Only a whole pass knows how much is free. */
const needsCapacity = ({ state }: InstanceRow): boolean => state === 'pending' || state === 'stopped';

const gapAfter = (passMs: number): number => Math.min(LONGEST_GAP_MS, Math.max(GAP_MS, GAPS_OF_A_PASS * passMs));
