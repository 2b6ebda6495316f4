import { Injectable, Logger } from '@nestjs/common';
import { OperatorSettings, StartupError } from '@slipway/platform-config';
import { Database } from '@slipway/platform-database';
import { TargetCatalog } from '../catalog/target-catalog.js';
import { instanceAbandoned } from './instance.events.js';
import { READ_PLACED_INSTANCES, type PlacedInstance } from '../workloads/instance.query.js';
import { WorkloadEntity } from '../workloads/workload.entity.js';
import { InstanceTransitions } from './instance-transitions.js';
import { STOPPED } from './instance-stops.js';
import { TargetRows } from './target-rows.js';

const MOST_NAMED = 10;
/** Tenants see this. Only the log shows where the unit was made. */
const GIVEN_UP = 'the operator has given up its unit, which may still run';

/**
 * Instances whose units no driver of this process can see, because the operator's file has changed: their target is
 * gone or has another kind, or it names another cluster. They would run for ever, next to those that replace them. So a
 * worker does not start with such a file, and the workers with the previous file continue.
 */
@Injectable()
export class UnreachableUnits {
  private readonly logger = new Logger('targets');

  constructor(
    private readonly database: Database,
    private readonly catalog: TargetCatalog,
    private readonly settings: OperatorSettings,
    private readonly transitions: InstanceTransitions,
  ) {}

  /** @throws StartupError that names the deployments, the instances, and what to do */
  async assertNone(): Promise<void> {
    await this.abandon();
    const problems = await this.problems();
    if (problems.length > 0) throw new StartupError(refusal(problems));
    await this.endUnstarted();
  }

  /**
   * Ends instances that wait for a start on a target which the file does not name: no reconciler would ever stop them,
   * and a deletion would wait for them. If the target comes back, they start again.
   */
  private async endUnstarted(): Promise<void> {
    const known = this.catalog.all().map(({ config }) => config.name);
    const found = await this.database.tx('system', (tx) =>
      tx
        .repository(WorkloadEntity)
        .createQueryBuilder('w')
        .select('distinct w.target', 'target')
        .where('w.is_active and w.target <> all(:known)', { known })
        .getRawMany<{ target: string }>(),
    );
    for (const { target } of found) {
      for (const workload of await new TargetRows(this.database, target).all()) {
        for (const instance of workload.instances.filter(({ state }) => state === 'pending'))
          await this.transitions.change(workload, instance, STOPPED);
        if (!workload.is_retained) await this.transitions.retire(workload);
      }
    }
  }

  /** Gives up the unreachable units of the targets in `abandoned_targets`. Repeating it changes nothing. */
  async abandon(): Promise<void> {
    const names = this.settings.abandoned_targets ?? [];
    if (names.length === 0) return;
    const problems = new Map((await this.problems()).map(({ id, problem }) => [id, problem]));
    for (const name of names) {
      for (const workload of await new TargetRows(this.database, name).all()) {
        for (const instance of workload.instances) {
          const why = problems.get(instance.id);
          if (why === undefined) continue;
          const event = instanceAbandoned(workload, instance, GIVEN_UP);
          await this.transitions.change(workload, instance, { ...STOPPED, message: GIVEN_UP, madeAt: null, event });
          this.logger.warn(`${instance.id} of ${workload.revision_name} on target ${name} was given up: ${why}`);
        }
        // Also after a crash between the two.
        if (!workload.is_retained) await this.transitions.retire(workload);
      }
    }
  }

  private async problems(): Promise<(PlacedInstance & { problem: string })[]> {
    const placed = await this.database.read<PlacedInstance>('system', READ_PLACED_INSTANCES, []);
    return placed.flatMap((instance) => {
      const problem = this.problemOf(instance);
      return problem === undefined ? [] : [{ ...instance, problem }];
    });
  }

  private problemOf({ id, target: name, made_at: madeAt }: PlacedInstance): string | undefined {
    const target = this.catalog.find(name);
    const isGivenUp = target?.isRemoved && this.settings.abandoned_targets?.includes(name);
    if (!target || isGivenUp) return 'the file no longer names the target';
    const { kind } = target.config;
    const other = madeAt?.find((location) => location.kind !== kind);
    if (other) return `its unit was made by a target of kind ${other.kind}, and the target now has kind ${kind}`;
    return target.driver.unreachable?.(id, madeAt ?? []);
  }
}

function refusal(problems: readonly (PlacedInstance & { problem: string })[]): string {
  const named = problems
    .slice(0, MOST_NAMED)
    .map(({ id, target, revision_name, problem }) => `${id} of ${revision_name} on target ${target}: ${problem}`);
  const more = problems.length > MOST_NAMED ? [`and ${problems.length - MOST_NAMED} more`] : [];
  const targets = [...new Set(problems.map(({ target }) => target))].join(', ');
  return [
    `with this operator's file, instances would keep running that no worker can see or stop. ${[...named, ...more].join('; ')}.`,
    'Put the previous settings back, delete these deployments or move them to another target, and change the file after their instances have ended.',
    `If the units no longer exist, add to the file: abandoned_targets: [${targets}]`,
  ].join(' ');
}
