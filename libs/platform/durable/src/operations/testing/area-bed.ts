import 'reflect-metadata';
import type { ModuleMetadata } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { ConfigModule, type Config } from '@slipway/platform-config';
import { Database, DatabaseModule, type Migration } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { errors, HttpModule, SlipwayHttpAdapter, type Principal, type Scope } from '@slipway/platform-http';
import { Schedule } from '../../scheduling/index.js';
import { OperationHarness, testConfig } from './operation-harness.js';
import {
  neighboursModule,
  platformMigrations,
  platformModules,
  queueModule,
  type NeighbourProvider,
} from './platform-modules.js';

export interface AreaBedOptions {
  /** The tables that the test needs. Those of `platformMigrations` always exist. */
  migrations: readonly Migration[];
  /** A migrated database that the test already has, and drops itself. */
  database?: TestDatabase;
  modules: NonNullable<ModuleMetadata['imports']>;
  /** Providers that replace the areas that the test does not build. */
  neighbours?: readonly NeighbourProvider[];
  /** A `worker` also runs operations, when the test drives them. The default is `api`. */
  process?: 'api' | 'worker';
  /** Replaces members of the test configuration. */
  config?: Partial<Config>;
}

/** A started area, for the constructor of its bed. */
export interface AreaApplication {
  app: NestFastifyApplication;
  config: Config;
  testDatabase: TestDatabase;
}

export interface AreaRequest {
  tenant?: string;
  scope?: Scope;
  body?: object;
  headers?: Record<string, string>;
}

export interface AreaAnswer {
  status: number;
  headers: Record<string, any>;
  body: any;
}

/**
 * An area over HTTP with a database of its own; the bed of each area extends it. A request names its tenant and its
 * scope. The tests of permissions are in apps/api. Recurring work runs only if the test runs it.
 */
export abstract class AreaBed {
  readonly app: NestFastifyApplication;
  readonly database: Database;

  protected constructor(private readonly area: AreaApplication) {
    this.app = area.app;
    this.database = area.app.get(Database, { strict: false });
  }

  protected static async open(options: AreaBedOptions): Promise<AreaApplication> {
    const migrations = [...new Set([...platformMigrations, ...options.migrations])];
    const testDatabase = options.database
      ? { ...options.database, drop: async () => undefined }
      : await createTestDatabase(migrations);
    const config = testConfig(testDatabase.url, options.config);
    const process = options.process ?? 'api';
    const module = await Test.createTestingModule({
      imports: [
        ConfigModule.forRoot(config),
        DatabaseModule.forRoot(config),
        HttpModule,
        ...(process === 'worker' ? [queueModule()] : []),
        ...platformModules(process, false),
        neighboursModule(options.neighbours ?? []),
        ...options.modules,
      ],
    }).compile();
    const adapter = new SlipwayHttpAdapter();
    adapter.setGuard(async (request) => {
      const [tenantId, scope] = (request.headers.authorization ?? '').split(' ');
      if (!tenantId) throw errors.unauthenticated();
      request.slipway.tenantId = tenantId;
      request.slipway.principal = testPrincipal(tenantId, scope as Scope);
    });
    const app = module.createNestApplication<NestFastifyApplication>(adapter, { logger: false });
    await app.init();
    await app.getHttpAdapter().getInstance().ready();
    return { app, config, testDatabase };
  }

  async stop(): Promise<void> {
    this.app.getHttpServer().closeAllConnections();
    await this.app.close();
    await this.area.testDatabase.drop();
  }

  async send(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    { tenant = 'ten_a', scope = 'admin', body, headers }: AreaRequest = {},
  ): Promise<AreaAnswer> {
    const answer = await this.app.inject({
      method,
      url: `/api/v1${path}`,
      payload: body,
      headers: { authorization: `${tenant} ${scope}`, ...headers },
    });
    return { status: answer.statusCode, headers: answer.headers, body: answer.body === '' ? undefined : answer.json() };
  }

  /** Drives operations, in a bed that is a worker. */
  get operations(): OperationHarness {
    return OperationHarness.of(this.app, this.area.testDatabase);
  }

  /** Runs recurring work once. */
  runNow(name: string): Promise<void> {
    return this.app.get(Schedule, { strict: false }).runNow(name);
  }

  /** Runs SQL as the system, in a transaction of its own. */
  sql<R extends object = any>(text: string, values: unknown[] = []): Promise<R[]> {
    return this.database.tx('system', (tx) => tx.query<R>(text, values));
  }
}

/** The principal that sends a request of a test. */
export function testPrincipal(tenantId: string, scope: Scope = 'admin'): Principal {
  return {
    tenantId,
    tenantName: tenantId,
    isOperatorTenant: false,
    actor: { type: 'token', id: 'tok_1' },
    scopes: new Set([scope]),
    owner: { type: 'person', id: 'alice' },
    minters: [],
  };
}
