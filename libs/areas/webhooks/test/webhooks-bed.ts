import 'reflect-metadata';
import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { migrations as auth } from '@slipway/platform-http/auth';
import type { Config, QuotaSettings } from '@slipway/platform-config';
import { Database } from '@slipway/platform-database';
import { errors, SlipwayHttpAdapter, type Scope } from '@slipway/platform-http';
import { appendEvents } from '@slipway/platform-durable/events';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { platformMigrations, testConfig } from '@slipway/platform-durable/operations/testing';
import { TYPESCRIPT_CHILD } from '@slipway/platform-testing/typescript-child';
import { migrations, type DeliveryTiming } from '../src/index.js';
import { ADD_DELIVERY_QUEUES, ADVANCE_DELIVERY_QUEUES, FAN_OUT_PAGE } from '../src/delivery/fan-out.query.js';
import { AreaOnly } from './surroundings.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** Short retries. A busy machine answers within the time-out. The lease is longer than a request, as it must be. */
export const QUICK: DeliveryTiming = { timeoutMs: 3_000, leaseMs: 4_500, retryDelaysMs: [50, 50, 50] };

export interface Answer {
  status: number;
  body: any;
}

/** The area over HTTP on a database of its own, and workers that come and go beside it. */
export class WebhooksBed {
  private readonly contexts: INestApplicationContext[] = [];
  private readonly children: ChildProcess[] = [];

  private constructor(
    readonly app: NestFastifyApplication,
    readonly database: Database,
    private readonly config: Config,
    private readonly testDatabase: TestDatabase,
  ) {}

  /**
   * @param quotas of every tenant, where a test is about them
   * @param change of the configuration, likewise
   */
  static async start(quotas: QuotaSettings = {}, change: Partial<Config> = {}): Promise<WebhooksBed> {
    const testDatabase = await createTestDatabase([...platformMigrations, ...auth, ...migrations]);
    const operator = { targets: [], secrets: {}, outbound: { webhooks: ['http://127.0.0.1:*'] }, quotas };
    const config = testConfig(testDatabase.url, { operator, ...change });
    const adapter = new SlipwayHttpAdapter();
    adapter.setGuard(async (request) => {
      const tenantId = request.headers.authorization;
      if (!tenantId) throw errors.unauthenticated();
      request.slipway.tenantId = tenantId;
      request.slipway.principal = {
        tenantId,
        tenantName: tenantId,
        isOperatorTenant: false,
        actor: { type: 'token', id: 'tok_1' },
        scopes: new Set<Scope>(['admin']),
        owner: { type: 'person', id: 'alice' },
        minters: [],
      };
    });
    const app = await NestFactory.create<NestFastifyApplication>(AreaOnly.of(config, 'api'), adapter, {
      logger: false,
    });
    await app.init();
    await app.getHttpAdapter().getInstance().ready();
    return new WebhooksBed(app, app.get(Database, { strict: false }), config, testDatabase);
  }

  async send(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    options: { tenant?: string; body?: object } = {},
  ): Promise<Answer> {
    const answer = await this.app.inject({
      method,
      url: `/api/v1${path}`,
      payload: options.body,
      headers: { authorization: options.tenant ?? 'ten_a' },
    });
    return { status: answer.statusCode, body: answer.json() };
  }

  async register(body: object, tenant = 'ten_a'): Promise<{ id: string; secret: string }> {
    const { status, body: made } = await this.send('POST', '/webhooks', { tenant, body });
    if (status !== 201) throw new Error(`expected 201, got ${status}: ${JSON.stringify(made)}`);
    return made;
  }

  /** All deliveries of a webhook, by event. */
  async deliveries(id: string, tenant = 'ten_a'): Promise<any[]> {
    const { status, body } = await this.send('GET', `/webhooks/${id}/deliveries?limit=200`, { tenant });
    if (status !== 200) throw new Error(`expected 200, got ${status}`);
    return body.data;
  }

  /** Events of a deployment, as the areas append them. */
  async append(deployment: string, types: readonly string[], tenant = 'ten_a'): Promise<void> {
    const events = types.map((type, index) => ({
      type,
      subject: `deployments/${deployment}`,
      data: { index },
      actor: { type: 'token', id: 'tok_1' },
    }));
    await this.database.tx({ tenantId: tenant }, (tx) =>
      appendEvents(tx, tenant, `deployment/dep_${deployment}`, events),
    );
  }

  /** Turns what is new of a deployment into deliveries, and wakes nobody. */
  async fanOut(deployment: string, webhooks: readonly string[]): Promise<void> {
    await this.database.tx('system', async (tx) => {
      const values = [`deployment/dep_${deployment}`, webhooks];
      await tx.query(ADD_DELIVERY_QUEUES, values);
      await tx.query(ADVANCE_DELIVERY_QUEUES, [...values, FAN_OUT_PAGE]);
    });
  }

  /** A row for the tenant, which has its id for a name in this bed. */
  async nameTenant(tenant: string): Promise<void> {
    await this.database.tx('system', (tx) => tx.query('insert into tenants (id, name) values ($1, $1)', [tenant]));
  }

  /** Ids of the events of a deployment, in order. */
  async eventIds(deployment: string): Promise<string[]> {
    const rows = await this.database.read<{ id: string }>(
      'system',
      'select id from events where stream = $1 order by sequence',
      [`deployment/dep_${deployment}`],
    );
    return rows.map(({ id }) => id);
  }

  async worker(timing: DeliveryTiming = QUICK, change: Partial<Config> = {}): Promise<INestApplicationContext> {
    const config = { ...this.config, ...change };
    const context = await NestFactory.createApplicationContext(AreaOnly.of(config, 'worker', timing), {
      logger: ['error'],
    });
    this.contexts.push(context);
    return context;
  }

  async stopWorker(context: INestApplicationContext): Promise<void> {
    this.contexts.splice(this.contexts.indexOf(context), 1);
    await context.close();
  }

  /** A worker in a process of its own, which can be killed. */
  async child(timing: DeliveryTiming = QUICK): Promise<ChildProcess> {
    const child = fork(join(HERE, 'runner.ts'), [JSON.stringify({ config: this.config, timing })], {
      execArgv: [...TYPESCRIPT_CHILD],
      cwd: join(HERE, '..'),
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.children.push(child);
    await new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve());
      child.once('exit', (code) => reject(new Error(`the runner ended with ${code}`)));
    });
    return child;
  }

  /** Ends all workers; the database stays. */
  async idle(): Promise<void> {
    for (const child of this.children.splice(0)) child.kill('SIGKILL');
    for (const context of [...this.contexts]) await this.stopWorker(context);
  }

  async stop(): Promise<void> {
    await this.idle();
    await this.app.close();
    await this.testDatabase.drop();
  }
}

/** Looks again and again until it is so; a deadline turns into an error that tells what was seen. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  seen: () => unknown = () => undefined,
  deadlineMs = 20_000,
): Promise<void> {
  const end = Date.now() + deadlineMs;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`waited in vain for ${what}; saw ${JSON.stringify(await seen())}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
