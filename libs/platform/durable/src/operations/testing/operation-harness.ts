import { Test } from '@nestjs/testing';
import type { INestApplicationContext, ModuleMetadata } from '@nestjs/common';
import { ConfigModule, loadConfig, type Config } from '@slipway/platform-config';
import { Database, DatabaseModule, type Migration } from '@slipway/platform-database';
import { LIVE_STATUSES } from '@slipway/contracts';
import {
  Leases,
  OperationDefinitions,
  OperationRunner,
  OperationStore,
  type InputOf,
  type OperationDefinition,
  type OperationOf,
  type StepName,
} from '../index.js';
import type { OperationQueue } from '../../queue/index.js';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { platformModules, queueModule } from './platform-modules.js';

/** The record of an operation as the API shows it. */
export type OperationRecord = Record<string, any>;

/** The columns of an operation's row that only workers see. */
export interface LeaseState {
  leaseVersion: string;
  /** Whether the lease of some worker is valid. */
  isHeld: boolean;
}

const DEADLINE_MS = 20_000;

/**
 * Operations against a real Postgres without a queue. Tests decide when an operation runs, and skip time by waking
 * sleeping operations. Recurring work runs only if a test calls `Schedule.runNow`. If it ran by itself, it could free
 * an expired lease between two lines of a test.
 */
export class OperationHarness {
  private readonly added: [OperationDefinition, OperationOf<any>][] = [];

  private constructor(
    readonly context: INestApplicationContext,
    readonly database: Database,
    readonly store: OperationStore,
    readonly runner: OperationRunner,
    readonly definitions: OperationDefinitions,
    readonly testDatabase: TestDatabase,
    private readonly leases: Leases,
  ) {}

  static async start(options: {
    migrations: readonly Migration[];
    modules?: ModuleMetadata['imports'];
    config?: Partial<Config>;
    /**
     * Receives wake-ups. With a queue, recurring work runs by its timers. Without one, wake-ups are lost and the test
     * drives.
     */
    queue?: OperationQueue;
  }): Promise<OperationHarness> {
    return OperationHarness.on(await createTestDatabase(options.migrations), options);
  }

  /**
   * Starts another worker process on the same database, with the operations that were added to this one. Stop it before
   * this one.
   */
  async startAnother(config?: Partial<Config>): Promise<OperationHarness> {
    const another = await OperationHarness.on({ ...this.testDatabase, drop: async () => undefined }, { config });
    for (const [definition, operation] of this.added) another.add(definition, operation);
    return another;
  }

  private static async on(
    testDatabase: TestDatabase,
    options: Omit<Parameters<typeof OperationHarness.start>[0], 'migrations'>,
  ): Promise<OperationHarness> {
    const config = testConfig(testDatabase.url, options.config);
    const module = await Test.createTestingModule({
      imports: [
        ConfigModule.forRoot(config),
        DatabaseModule.forRoot(config),
        queueModule(options.queue),
        ...platformModules('worker', options.queue !== undefined),
        ...(options.modules ?? []),
      ],
    }).compile();
    return OperationHarness.of(await module.init(), testDatabase);
  }

  /** The operations of a worker that already runs. */
  static of(context: INestApplicationContext, testDatabase: TestDatabase): OperationHarness {
    const anywhere = { strict: false };
    return new OperationHarness(
      context,
      context.get(Database, anywhere),
      context.get(OperationStore, anywhere),
      context.get(OperationRunner, anywhere),
      context.get(OperationDefinitions, anywhere),
      testDatabase,
      context.get(Leases, anywhere),
    );
  }

  async stop(): Promise<void> {
    await this.context.close();
    await this.testDatabase.drop();
  }

  /** Adds a kind that only a test knows. */
  add<D extends OperationDefinition>(definition: D, operation: OperationOf<D>): void {
    this.definitions.add(definition, operation);
    this.added.push([definition, operation]);
  }

  /** Accepts an operation of a kind under test, by default with all its steps. */
  begin<D extends OperationDefinition>(
    tenantId: string,
    operation: D,
    input: InputOf<D>,
    steps: readonly StepName<D>[] = operation.steps as unknown as StepName<D>[],
  ): Promise<string> {
    return this.database.tx({ tenantId }, async (tx) => {
      const requestedBy = { type: 'token', id: 'test' } as const;
      const claim = { operation, resourceType: 'thing', resourceName: 'thing', requestedBy };
      const { id } = await this.store.claim(tx, claim);
      await this.store.start(tx, { id, operation, resourceId: 'thing', stream: `operation/${id}`, input, steps });
      return id;
    });
  }

  /**
   * Drives an operation until it has ended or waits for a person, and wakes it whenever it sleeps. An error of the
   * runner fails the test: no later drive retries what a drive meets here.
   */
  async finish(tenantId: string, id: string): Promise<OperationRecord> {
    const record = await this.finishOr(tenantId, id, new Promise<never>(() => undefined));
    return record as OperationRecord;
  }

  /** The same, but stops when `happened` resolves, even in the middle of a drive; then it returns undefined. */
  async finishOr(tenantId: string, id: string, happened: Promise<void>): Promise<OperationRecord | undefined> {
    const deadline = Date.now() + DEADLINE_MS;
    const hasHappened = happened.then(() => true);
    for (;;) {
      const drive = this.runner.drive(id).then(() => false);
      if (await Promise.race([hasHappened, drive])) return undefined;
      const record = await this.record(tenantId, id);
      const isResting = record['status'] === 'waiting' && (await this.isAwaiting(id));
      if (isResting || !LIVE_STATUSES.includes(record['status'])) return record;
      if (Date.now() > deadline) {
        const { status, current_step: step, message } = record;
        throw new Error(`operation ${id} did not end: ${status} at ${step}, ${message || 'no message'}`);
      }
      await this.skipTime(id);
    }
  }

  /** Drives an operation as far as possible now, without skipping its sleeps. */
  async drive(tenantId: string, id: string): Promise<OperationRecord> {
    await this.runner.drive(id);
    return this.record(tenantId, id);
  }

  /** The same, after skipping its current sleep. */
  async wake(tenantId: string, id: string): Promise<OperationRecord> {
    await this.skipTime(id);
    return this.drive(tenantId, id);
  }

  /** Does what the clock would do: expires the lease and ends the sleep. */
  async skipTime(id: string): Promise<void> {
    await this.database.tx('system', (tx) =>
      tx.query(
        `update operations set wake_at = null, lease_expires_at = case when lease_expires_at is not null then now() - interval '1 second' end where id = $1`,
        [id],
      ),
    );
  }

  /** Moves the start of the current step so many seconds into the past. */
  async age(id: string, seconds: number): Promise<void> {
    await this.database.tx('system', (tx) =>
      tx.query(
        `update operation_steps set started_at = started_at - make_interval(secs => $2)
         where operation_id = $1 and status in ('running', 'waiting')`,
        [id, seconds],
      ),
    );
  }

  /**
   * Does to an operation whose step is paused here what the death of this process would do: its lease stays taken and
   * no process renews it. The paused step must never continue.
   */
  async abandon(id: string): Promise<LeaseState> {
    const left = await this.leaseOf(id);
    this.leases.drop(id, left.leaseVersion);
    return left;
  }

  async leaseOf(id: string): Promise<LeaseState> {
    const [row] = await this.database.read<LeaseState>(
      'system',
      `select lease_version "leaseVersion", coalesce(lease_expires_at > now(), false) "isHeld" from operations where id = $1`,
      [id],
    );
    if (!row) throw new Error(`there is no operation ${id}`);
    return row;
  }

  async record(tenantId: string, id: string): Promise<OperationRecord> {
    const text = await this.database.tx({ tenantId }, (tx) => this.store.record(tx, id));
    return JSON.parse(text as string);
  }

  private async isAwaiting(id: string): Promise<boolean> {
    const rows = await this.database.read<{ awaiting: string | null }>(
      'system',
      'select awaiting from operations where id = $1',
      [id],
    );
    return rows[0]?.awaiting !== null;
  }
}

/** A complete configuration for tests; `overrides` replaces members. */
export function testConfig(databaseUrl: string, overrides: Partial<Config> = {}): Config {
  const env = {
    DATABASE_URL: databaseUrl,
    SLIPWAY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    SLIPWAY_LOG_LEVEL: 'warn',
    NODE_ENV: 'test',
  };
  return { ...loadConfig(env, process.cwd()), ...overrides };
}
