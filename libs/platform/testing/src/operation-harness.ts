import { Test } from '@nestjs/testing';
import type { INestApplicationContext, ModuleMetadata } from '@nestjs/common';
import { ConfigModule, loadConfig, type Config } from '@slipway/platform-config';
import { Database, DatabaseModule, type Migration } from '@slipway/platform-database';
import {
  LIVE_STATUSES,
  OperationDefinitions,
  OperationRunner,
  OperationsModule,
  OperationStore,
  type OperationDefinition,
} from '@slipway/platform-operations';
import { OPERATION_QUEUE, type OperationQueue } from '@slipway/platform-queue';
import { Global, Module } from '@nestjs/common';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';

/** The record of an operation as the API shows it. */
export type OperationRecord = Record<string, any>;

/**
 * Operations against a real Postgres without a queue: tests decide when an operation runs, and time is skipped by waking
 * what sleeps.
 */
export class OperationHarness {
  private constructor(
    readonly context: INestApplicationContext,
    readonly database: Database,
    readonly store: OperationStore,
    readonly runner: OperationRunner,
    readonly definitions: OperationDefinitions,
    readonly testDatabase: TestDatabase,
  ) {}

  static async start(options: {
    migrations: readonly Migration[];
    modules?: ModuleMetadata['imports'];
    entities?: Function[];
    config?: Partial<Config>;
  }): Promise<OperationHarness> {
    const testDatabase = await createTestDatabase(options.migrations);
    const config = testConfig(testDatabase.url, options.config);
    const module = await Test.createTestingModule({
      imports: [
        ConfigModule.forRoot(config),
        DatabaseModule.forRoot(config, options.entities),
        SilentQueueModule,
        OperationsModule.forWorker(),
        ...(options.modules ?? []),
      ],
    }).compile();
    const context = await module.init();
    return new OperationHarness(
      context,
      context.get(Database),
      context.get(OperationStore),
      context.get(OperationRunner),
      context.get(OperationDefinitions),
      testDatabase,
    );
  }

  async stop(): Promise<void> {
    await this.context.close();
    await this.testDatabase.drop();
  }

  /** Accepts an operation of a kind under test. */
  begin(
    tenantId: string,
    definition: Pick<OperationDefinition, 'kind'>,
    steps: readonly string[],
    input: unknown = {},
  ): Promise<string> {
    return this.database.tx({ tenantId }, async (tx) => {
      const { id } = await this.store.claim(tx, {
        kind: definition.kind,
        resourceType: 'thing',
        resourceName: 'thing',
        requestedBy: { type: 'token', id: 'test' },
      });
      await this.store.start(tx, id, { resourceId: 'thing', stream: `operation/${id}`, input, steps });
      return id;
    });
  }

  /** Drives an operation until it has ended or waits for a person, waking it whenever it sleeps. */
  async finish(tenantId: string, id: string): Promise<OperationRecord> {
    const deadline = Date.now() + 20_000;
    while (Date.now() < deadline) {
      await this.runner.drive(id).catch(() => undefined);
      const record = await this.record(tenantId, id);
      const isResting = record['status'] === 'waiting' && (await this.isAwaiting(id));
      if (isResting || !LIVE_STATUSES.includes(record['status'])) return record;
      await this.skipTime(id);
    }
    throw new Error(`operation ${id} did not end`);
  }

  /** What the clock would do: an expired lease, a sleep that is over. */
  async skipTime(id: string): Promise<void> {
    await this.database.tx('system', (tx) =>
      tx.query(
        `update operations set wake_at = null, lease_expires_at = case when lease_expires_at is not null then now() - interval '1 second' end where id = $1`,
        [id],
      ),
    );
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

const silentQueue: OperationQueue = {
  add: async () => undefined,
  consume: async () => undefined,
  ready: () => true,
  close: async () => undefined,
};

@Global()
@Module({ providers: [{ provide: OPERATION_QUEUE, useValue: silentQueue }], exports: [OPERATION_QUEUE] })
class SilentQueueModule {}
