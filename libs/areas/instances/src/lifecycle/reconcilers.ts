import { LOGS_ASKED_CHANNEL, WORKLOADS_CHANNEL } from '@slipway/contracts';
import {
  Inject,
  Injectable,
  Logger,
  Optional,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { STOP_ENGINES_MESSAGE } from '@slipway/platform-config/process-life';
import { Database } from '@slipway/platform-database';
import { OperationRunner } from '@slipway/platform-durable/operations';
import { DeviceWatch } from '../devices/device-watch.js';
import { BackendPublisher } from '../backends/backend-publisher.js';
import { EngineKeys } from '../access/engine-keys.js';
import { HealthWatch } from '../catalog/target-health.js';
import { InstanceKeeper } from './instance-keeper.js';
import { InstanceTransitions } from './instance-transitions.js';
import { LoadWatch } from '../scaling/load-watch.js';
import { LogServer } from '../logs/log-server.js';
import { SecretWatch } from '../backends/secret-watch.js';
import { countTargetErrorsOf } from '../catalog/repeated-check.js';
import { TargetCatalog, type Target } from '../catalog/target-catalog.js';
import { TargetLeadership } from '../catalog/target-leadership.js';
import { TargetReconciler } from './target-reconciler.js';
import { TargetRows } from './target-rows.js';
import { UnreachableUnits } from './unreachable-units.js';
import { DEFAULT_INSTANCE_TIMINGS, INSTANCE_TIMINGS, type InstanceTimings } from '../catalog/timings.js';

const RUNNING = new Set(['starting', 'ready', 'unhealthy', 'backing_off']);
const GONE_CHECK_MS = 50;

/**
 * Runs one reconciler for each target, in processes that run operations: the workers. The API only writes what should
 * run.
 */
@Injectable()
export class Reconcilers implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly byTarget = new Map<
    string,
    { reconciler: TargetReconciler; watches: (SecretWatch | DeviceWatch | LoadWatch | HealthWatch)[]; logs: LogServer }
  >();
  private readonly logger = new Logger('targets');
  private unlisten: (() => Promise<void>)[] = [];
  private isRunning = false;

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'database' | 'operator'>,
    private readonly database: Database,
    private readonly catalog: TargetCatalog,
    private readonly transitions: InstanceTransitions,
    private readonly publisher: BackendPublisher,
    private readonly keeper: InstanceKeeper,
    private readonly keys: EngineKeys,
    private readonly unreachable: UnreachableUnits,
    @Optional() private readonly worker?: OperationRunner,
    @Optional() @Inject(INSTANCE_TIMINGS) private readonly timings: InstanceTimings = DEFAULT_INSTANCE_TIMINGS,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (!this.worker) return;
    await this.unreachable.assertNone();
    this.unlisten = [
      await this.database.listen(
        WORKLOADS_CHANNEL,
        (target) => this.byTarget.get(target)?.reconciler.kick(),
        () => this.kickAll(),
      ),
      // A reader repeats its notification until a worker has accepted it.
      await this.database.listen(LOGS_ASKED_CHANNEL, (target) => this.byTarget.get(target)?.logs.look()),
    ];
    this.isRunning = true;
    this.startMissing();
    this.catalog.onChange(() => {
      void this.unreachable.abandon().catch((error: unknown) => this.logger.warn(String(error)));
      this.startMissing();
      this.kickAll();
    });
  }

  async beforeApplicationShutdown(signal?: string): Promise<void> {
    if (signal === STOP_ENGINES_MESSAGE) await this.stopEngines();
    else await this.stop();
  }

  /**
   * Stops every engine that ends with this host, as for a shutdown of the whole stack: SIGTERM, the driver's grace
   * period, SIGKILL. The desired state stays unchanged. So the next worker starts the engines again, as the next
   * generation and without counting a crash. Stops the reconcilers first; the process must exit afterwards. Operations
   * must have stopped before: otherwise a soak that checks now would see its candidate as dead.
   */
  async stopEngines(): Promise<void> {
    await this.stop();
    const targets = this.catalog.all().filter(({ driver }) => !driver.outlivesHost);
    await Promise.all(targets.map((target) => this.stopEnginesOf(target)));
  }

  private async stop(): Promise<void> {
    this.isRunning = false;
    for (const unlisten of this.unlisten) await unlisten();
    this.unlisten = [];
    await Promise.all(
      [...this.byTarget.values()].flatMap(({ reconciler, watches, logs }) => [
        reconciler.stop(),
        logs.stop(),
        ...watches.map((watch) => watch.stop()),
      ]),
    );
  }

  /**
   * Starts reconcilers for new targets, which the operator may add at any time. A removed target keeps its reconciler
   * for its instances.
   */
  private startMissing(): void {
    if (!this.isRunning) return;
    for (const target of this.catalog.all().filter(({ config }) => !this.byTarget.has(config.name))) {
      const { name } = target.config;
      countTargetErrorsOf(name);
      const { database, transitions, publisher, timings } = this;
      const leadership = new TargetLeadership(this.config.database.url, name);
      const targets = () => new Set(this.catalog.all().map(({ config }) => config.name));
      const { keeper } = this;
      const reconciler = new TargetReconciler(target, leadership, database, transitions, keeper, timings, targets);
      const watches = [
        new SecretWatch(target, leadership, this.config.operator, database, publisher, timings.secretCheckMs),
        new DeviceWatch(target, leadership, database, () => reconciler.kick(), timings),
        new LoadWatch(target, leadership, database, this.keys, timings.loadCheckMs),
        new HealthWatch(target, leadership, database, () => reconciler.kick(), timings.healthCheckMs),
      ];
      const logs = new LogServer(target, leadership, this.config.operator, database, timings.logSignMs);
      this.byTarget.set(name, { reconciler, watches, logs });
      reconciler.start();
      for (const watch of watches) watch.start();
    }
  }

  private async stopEnginesOf(target: Target): Promise<void> {
    // Without Postgres the engines stop too, and the next worker counts them as crashed.
    await this.recordStop(target.config.name).catch(() => undefined);
    const running = await target.driver.list();
    await Promise.all(running.map(({ instanceId }) => terminateUntilGone(target, instanceId)));
  }

  private async recordStop(target: string): Promise<void> {
    for (const workload of await new TargetRows(this.database, target).all()) {
      for (const instance of workload.instances.filter(({ state }) => RUNNING.has(state))) {
        await this.transitions.change(workload, instance, {
          state: 'pending',
          generation: instance.generation + 1,
          baseUrl: null,
          message: 'its host was stopped',
          incarnation: null,
          reason: 'terminated',
          isSilent: true,
        });
      }
    }
  }

  private kickAll(): void {
    for (const { reconciler } of this.byTarget.values()) reconciler.kick();
  }
}

async function terminateUntilGone({ driver }: Target, instanceId: string): Promise<void> {
  while ((await driver.terminate(instanceId)) !== 'gone')
    await new Promise((resolve) => setTimeout(resolve, GONE_CHECK_MS));
}
