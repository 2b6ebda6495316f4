import 'reflect-metadata';
import { Global, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { DeploymentRecordsModule, migrations as records } from '@slipway/area-revisions/deployment-records';
import { migrations as dataplane } from '@slipway/dataplane';
import { ConfigModule, type QuotaSettings } from '@slipway/platform-config';
import { Database, DatabaseModule, type Reads, type Tx } from '@slipway/platform-database';
import { errors, HttpModule, SlipwayHttpAdapter, type Principal, type Scope } from '@slipway/platform-http';
import { LOOK_EVERY_MS, OperationRunner, OperationStore } from '@slipway/platform-durable/operations';
import { OPERATION_QUEUE, type OperationQueue } from '@slipway/platform-durable/queue';
import { Schedule } from '@slipway/platform-durable/scheduling';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { platformMigrations, platformModules, testConfig } from '@slipway/platform-durable/operations/testing';
import { INSTANCES, type WorkloadStatus } from '@slipway/ports/instances';
import { REVISIONS } from '@slipway/ports/revisions';
import { ROUTES, type Route } from '@slipway/ports/routing';
import { DeploymentsModule } from '../src/index.js';

/** What the neighbours of this area would know; tests write it directly. The records of deployments are real ones. */
export class Neighbours {
  /** Ids of a deployment's revisions. */
  readonly revisions = new Map<string, string[]>();
  readonly routes = new Map<string, Route>();
  readonly owners = new Map<string, string>();
  readonly statuses = new Map<string, WorkloadStatus>();
  readonly inFlight = new Map<string, number>();
  readonly calls: string[] = [];
  /** Revisions whose processes go on for a while after they were let go. */
  readonly lingering = new Set<string>();
  failOn?: string;
  /** What happens elsewhere while somebody looks at a revision. */
  onLook?: (revisionId: string) => Promise<void>;

  readonly revisionsPort = {
    shown: async (_reads: Reads, ids: readonly string[]) =>
      ids.map((id) => ({ id, name: `name-of-${id}`, scaling: { min_replicas: 1 } })),
    idsOf: async (_tx: Tx, deploymentId: string) => this.revisions.get(deploymentId) ?? [],
    retired: async (_tx: Tx, id: string) => this.note(`retired ${id}`),
  };

  readonly routesPort = {
    current: async (_tx: Tx, id: string) => this.routes.get(id),
    currentOf: async (_reads: Reads, ids: readonly string[]) => kept(this.routes, ids),
    remove: async (_tx: Tx, id: string) => {
      this.note(`remove ${id}`);
      this.routes.delete(id);
    },
    takeTraffic: async (_tx: Tx, id: string, operationId: string) => void this.owners.set(id, operationId),
    releaseTraffic: async (_tx: Tx, id: string, operationId: string) =>
      void (this.owners.get(id) === operationId && this.owners.delete(id)),
  };

  readonly instancesPort = {
    serving: async (_reads: Reads, ids: readonly string[]) => {
      for (const id of ids) await this.onLook?.(id);
      return kept(this.statuses, ids);
    },
    status: async (_tx: Tx, id: string) => {
      await this.onLook?.(id);
      return this.statuses.get(id);
    },
    release: async (_tx: Tx, id: string, holder: string) => {
      this.note(`release ${id} ${holder}`);
      const before = this.statuses.get(id);
      if (holder !== 'warm' || !before) return;
      if (this.lingering.has(id)) this.statuses.set(id, { ...before, desired: 0, ready: 0 });
      else this.statuses.delete(id);
    },
    inFlight: async (_tx: Tx, id: string) => this.inFlight.get(id) ?? 0,
    wakeOnChange: async () => undefined,
  };

  /** Whether these calls were made, and in this order. */
  inOrder(...wanted: string[]): boolean {
    const places = wanted.map((call) => this.calls.indexOf(call));
    return places.every((place, index) => place >= 0 && (index === 0 || place > (places[index - 1] as number)));
  }

  private note(call: string): void {
    if (this.failOn && call.startsWith(this.failOn)) throw new Error(`${call} fails`);
    this.calls.push(call);
  }
}

export interface Answer {
  status: number;
  headers: Record<string, any>;
  body: any;
}

/** The area over HTTP, with a database of its own and neighbours that are told what to say. */
export class DeploymentsBed {
  private constructor(
    readonly app: NestFastifyApplication,
    readonly database: Database,
    readonly neighbours: Neighbours,
    private readonly testDatabase: TestDatabase,
  ) {}

  /** @param quotas of every tenant, where a test is about them */
  static async start(quotas: QuotaSettings = {}): Promise<DeploymentsBed> {
    const testDatabase = await createTestDatabase([...platformMigrations, ...dataplane, ...records]);
    const config = testConfig(testDatabase.url, { operator: { targets: [], secrets: {}, quotas } });
    const neighbours = new Neighbours();
    const ports = [
      { provide: REVISIONS, useValue: neighbours.revisionsPort },
      { provide: ROUTES, useValue: neighbours.routesPort },
      { provide: INSTANCES, useValue: neighbours.instancesPort },
      { provide: OPERATION_QUEUE, useValue: silentQueue },
      { provide: LOOK_EVERY_MS, useValue: 0 },
    ];
    @Global()
    @Module({ providers: ports, exports: ports.map((port) => port.provide) })
    class NeighboursModule {}
    const module = await Test.createTestingModule({
      imports: [
        ConfigModule.forRoot(config),
        DatabaseModule.forRoot(config),
        HttpModule,
        ...platformModules('worker'),
        NeighboursModule,
        DeploymentRecordsModule,
        DeploymentsModule,
      ],
    }).compile();
    const adapter = new SlipwayHttpAdapter();
    adapter.setGuard(async (request) => {
      const [tenantId, scope] = (request.headers.authorization ?? '').split(' ');
      if (!tenantId) throw errors.unauthenticated();
      request.slipway.tenantId = tenantId;
      request.slipway.principal = principalOf(tenantId, scope as Scope);
    });
    const app = module.createNestApplication<NestFastifyApplication>(adapter, { logger: false });
    await app.init();
    await app.getHttpAdapter().getInstance().ready();
    // Tests go round themselves; a round by itself would observe in the midst of one.
    await app.get(Schedule, { strict: false }).beforeApplicationShutdown();
    return new DeploymentsBed(app, app.get(Database, { strict: false }), neighbours, testDatabase);
  }

  async stop(): Promise<void> {
    await this.app.close();
    await this.testDatabase.drop();
  }

  async send(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    options: { tenant?: string; scope?: Scope; body?: object; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const answer = await this.app.inject({
      method,
      url: `/api/v1${path}`,
      payload: options.body,
      headers: { authorization: `${options.tenant ?? 'ten_a'} ${options.scope ?? 'admin'}`, ...options.headers },
    });
    return { status: answer.statusCode, headers: answer.headers, body: answer.body === '' ? undefined : answer.json() };
  }

  /** One round of the health of all deployments, as the worker goes it every second. */
  healthRound(): Promise<void> {
    return this.app.get(Schedule, { strict: false }).runNow('deployment-health');
  }

  /** Drives an operation as far as it goes now, beyond the sleep it is in. */
  async drive(operationId: string): Promise<any> {
    await this.database.tx('system', (tx) =>
      tx.query('update operations set wake_at = null where id = $1', [operationId]),
    );
    await this.app.get(OperationRunner, { strict: false }).drive(operationId);
    const store = this.app.get(OperationStore, { strict: false });
    return JSON.parse((await this.database.tx({ tenantId: 'ten_a' }, (tx) => store.record(tx, operationId))) as string);
  }

  /** Asks for an operation that failed to be tried again. */
  async retry(operationId: string): Promise<void> {
    const store = this.app.get(OperationStore, { strict: false });
    await this.database.tx({ tenantId: 'ten_a' }, (tx) => store.retry(tx, operationId, { type: 'token', id: 'tok_1' }));
  }

  /** Lets the step that runs now have begun so many seconds earlier. */
  async age(operationId: string, seconds: number): Promise<void> {
    await this.database.tx('system', (tx) =>
      tx.query(
        `update operation_steps set started_at = started_at - make_interval(secs => $2) where operation_id = $1 and status = 'running'`,
        [operationId, seconds],
      ),
    );
  }

  /** Drives an operation to its end, skipping the time it sleeps. */
  async finish(operationId: string): Promise<{ status: string; message: string; result: Record<string, unknown> }> {
    const runner = this.app.get(OperationRunner, { strict: false });
    for (let turn = 0; turn < 100; turn += 1) {
      await runner.drive(operationId);
      const [row] = await this.database.read<any>(
        'system',
        'select status, message, result, error_code from operations where id = $1',
        [operationId],
      );
      if (['succeeded', 'failed', 'cancelled'].includes(row.status)) return row;
      await this.database.tx('system', (tx) =>
        tx.query('update operations set wake_at = null where id = $1', [operationId]),
      );
    }
    throw new Error(`operation ${operationId} did not end`);
  }
}

function kept<Value>(all: ReadonlyMap<string, Value>, ids: readonly string[]): Map<string, Value> {
  return new Map([...all].filter(([id]) => ids.includes(id)));
}

export function principalOf(tenantId: string, scope: Scope = 'admin'): Principal {
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

const silentQueue: OperationQueue = {
  add: async () => undefined,
  consume: async () => undefined,
  ready: () => true,
  close: async () => undefined,
};
