import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { Global, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AuthModule, migrations as auth } from '@slipway/platform-http/auth';
import { ConfigModule, loadConfig, type Config } from '@slipway/platform-config';
import { DatabaseModule, type Migration } from '@slipway/platform-database';
import { HttpModule, serveOpenApi, SlipwayHttpAdapter } from '@slipway/platform-http';
import { OPERATION_QUEUE, type OperationQueue } from '@slipway/platform-durable/queue';
// Not the whole of `testing`, which needs Jest: a child process loads this file too.
import { platformMigrations, platformModules } from '@slipway/platform-durable/operations/testing/platform-modules';
import { migrations as sandboxes, SandboxesModule } from '../src/index.js';
import { TRANSFER_IDLE_TIMEOUT, TRANSFER_IDLE_TIMEOUT_MS } from '../src/storage/time-limits.js';
import { watchOutside } from './outside-watch.js';

export const MIGRATIONS: Migration[] = [...platformMigrations, ...auth, ...sandboxes];

/** A queue within the process: it delivers at once the operations that the relay adds. */
class DirectQueue implements OperationQueue {
  private handler: (operationId: string) => Promise<void> = async () => undefined;

  async add(job: { operationId: string; delayMs?: number }): Promise<void> {
    setTimeout(() => void this.handler(job.operationId).catch(() => undefined), job.delayMs ?? 0).unref();
  }

  async consume(handler: (operationId: string) => Promise<void>): Promise<void> {
    this.handler = handler;
  }

  ready(): boolean {
    return true;
  }

  async close(): Promise<void> {
    this.handler = async () => undefined;
  }
}

@Global()
@Module({ providers: [{ provide: OPERATION_QUEUE, useClass: DirectQueue }], exports: [OPERATION_QUEUE] })
class DirectQueueModule {}

/** Short, for tests that wait until the lease of a killed process expires. */
export const QUICK_LEASE = { leaseSeconds: 3 };

export function configOf(databaseUrl: string, overrides: Partial<Config>): Config {
  const env = {
    DATABASE_URL: databaseUrl,
    SLIPWAY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    NODE_ENV: 'test',
  };
  const operator = { targets: [], secrets: {}, outbound: { sandboxes: ['http://127.0.0.1:*'] } };
  return { ...loadConfig(env, process.cwd()), operator, ...overrides };
}

/**
 * Starts api and worker of this area in one process, listening on a free port. Closing it fails if the code called an
 * outside service while a transaction was open.
 * @param idleTimeoutMs after which a silent store or sandbox is given up; by default that of the product
 */
export async function startApp(
  config: Config,
  idleTimeoutMs = TRANSFER_IDLE_TIMEOUT_MS,
): Promise<{ app: NestFastifyApplication; origin: string; calledInTransaction: string[] }> {
  const idleTimeout = { provide: TRANSFER_IDLE_TIMEOUT, useValue: idleTimeoutMs };
  @Global()
  @Module({ providers: [idleTimeout], exports: [idleTimeout] })
  class IdleTimeoutModule {}
  @Module({
    imports: [
      IdleTimeoutModule,
      ConfigModule.forRoot(config),
      DatabaseModule.forRoot(config),
      HttpModule,
      AuthModule,
      DirectQueueModule,
      ...platformModules('worker'),
      SandboxesModule,
    ],
  })
  class SandboxAppModule {}
  const app = await NestFactory.create<NestFastifyApplication>(SandboxAppModule, new SlipwayHttpAdapter(), {
    logger: ['error', 'warn'],
    abortOnError: false,
  });
  serveOpenApi(app, { docs: false });
  const calledInTransaction = watchOutside(app);
  const close = app.close.bind(app);
  app.close = async () => {
    // A refused or aborted upload may have left a connection open, and closing would wait for it.
    app.getHttpServer().closeAllConnections();
    await close();
    if (calledInTransaction.length > 0) throw new Error(`inside a transaction: ${calledInTransaction.join(', ')}`);
  };
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return { app, origin: `http://127.0.0.1:${port}`, calledInTransaction };
}
