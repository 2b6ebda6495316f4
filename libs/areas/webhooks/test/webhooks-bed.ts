import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { migrations as auth } from '@slipway/platform-http/auth';
import type { Config, QuotaSettings } from '@slipway/platform-config';
import { appendEvents } from '@slipway/platform-durable/events';
import { AreaBed, type AreaApplication } from '@slipway/platform-durable/operations/testing';
import { TYPESCRIPT_CHILD } from '@slipway/platform-testing/typescript-child';
import { migrations, WebhooksModule, type DeliveryTiming } from '../src/index.js';
import { FAN_OUT_PAGE, ADD_DELIVERY_QUEUES, ADVANCE_DELIVERY_QUEUES } from '../src/delivery/fan-out.query.js';
import { NEIGHBOURS, WebhooksWorkerModule } from './surroundings.js';
export { until } from '@slipway/platform-database/testing';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** Short retries. A busy machine answers within the time-out. The lease is longer than a request, as it must be. */
export const QUICK: DeliveryTiming = { timeoutMs: 3_000, leaseMs: 4_500, retryDelaysMs: [50, 50, 50] };

/** The area over HTTP on a database of its own, with workers that tests start and stop. */
export class WebhooksBed extends AreaBed {
  private readonly config: Config;
  private readonly contexts: INestApplicationContext[] = [];
  private readonly children: ChildProcess[] = [];

  private constructor(area: AreaApplication) {
    super(area);
    this.config = area.config;
  }

  /**
   * @param quotas of every tenant, if a test is about them
   * @param change of the configuration, likewise
   */
  static async start(quotas: QuotaSettings = {}, change: Partial<Config> = {}): Promise<WebhooksBed> {
    const operator = { targets: [], secrets: {}, outbound: { webhooks: ['http://127.0.0.1:*'] }, quotas };
    return new WebhooksBed(
      await AreaBed.open({
        migrations: [...auth, ...migrations],
        modules: [WebhooksModule],
        neighbours: NEIGHBOURS,
        config: { operator, ...change },
      }),
    );
  }

  async register(body: object, tenant = 'ten_a'): Promise<{ id: string; secret: string }> {
    const { status, body: made } = await this.send('POST', '/webhooks', { tenant, body });
    if (status !== 201) throw new Error(`expected 201, got ${status}: ${JSON.stringify(made)}`);
    return made;
  }

  /** Returns all deliveries of a webhook, by event. */
  async deliveries(id: string, tenant = 'ten_a'): Promise<any[]> {
    const { status, body } = await this.send('GET', `/webhooks/${id}/deliveries?limit=200`, { tenant });
    if (status !== 200) throw new Error(`expected 200, got ${status}`);
    return body.data;
  }

  /** Appends events of a deployment, as the areas do. */
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

  /** Turns new events of a deployment into deliveries, and wakes no sender. */
  async fanOut(deployment: string, webhooks: readonly string[]): Promise<void> {
    await this.database.tx('system', async (tx) => {
      const values = [`deployment/dep_${deployment}`, webhooks];
      await tx.query(ADD_DELIVERY_QUEUES, values);
      await tx.query(ADVANCE_DELIVERY_QUEUES, [...values, FAN_OUT_PAGE]);
    });
  }

  /** Adds a row for the tenant. Its name in this bed is its id. */
  async nameTenant(tenant: string): Promise<void> {
    await this.database.tx('system', (tx) => tx.query('insert into tenants (id, name) values ($1, $1)', [tenant]));
  }

  /** Returns the ids of the events of a deployment, in order. */
  async eventIds(deployment: string): Promise<string[]> {
    const rows = await this.database.read<{ id: string }>(
      'system',
      'select id from events where stream = $1 order by sequence',
      [`deployment/dep_${deployment}`],
    );
    return rows.map(({ id }) => id);
  }

  /** Returns the actions of the audit log about a webhook, in order. */
  async actions(id: string): Promise<string[]> {
    const rows = await this.database.read<{ action: string }>(
      'system',
      'select action from audit_log where resource_name = $1 order by id',
      [id],
    );
    return rows.map(({ action }) => action);
  }

  async worker(timing: DeliveryTiming = QUICK, change: Partial<Config> = {}): Promise<INestApplicationContext> {
    const config = { ...this.config, ...change };
    const context = await NestFactory.createApplicationContext(WebhooksWorkerModule.of(config, timing), {
      logger: ['error'],
    });
    this.contexts.push(context);
    return context;
  }

  async stopWorker(context: INestApplicationContext): Promise<void> {
    this.contexts.splice(this.contexts.indexOf(context), 1);
    await context.close();
  }

  /** Starts a worker in a process of its own, which can be killed. */
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

  override async stop(): Promise<void> {
    await this.idle();
    await super.stop();
  }
}
