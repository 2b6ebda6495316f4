import type { LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ensureBootstrap } from '@slipway/platform-http/auth';
import { PausePoints, type Config } from '@slipway/platform-config';
import { Database } from '@slipway/platform-database';
import { routeOf, serveOpenApi, SlipwayHttpAdapter, type SlipwayRequest } from '@slipway/platform-http';
import { AppModule } from './app.module.js';

/** Creates the complete api, ready to listen. The schema must have been migrated. `docs: false` leaves out `/docs`. */
export async function createApi(
  config: Config,
  options: { logger?: LoggerService | false; docs?: boolean } = {},
): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.forRoot(config), new SlipwayHttpAdapter(), {
    logger: options.logger,
    abortOnError: false,
  });
  if (config.pausePoint?.startsWith('http:')) pauseBeforeAnswers(app);
  serveOpenApi(app, { docs: options.docs ?? true });
  await ensureBootstrap(app.get(Database, { strict: false }), config);
  return app;
}

/**
 * Pause points `http:before-answer:<operationId>`, and `http:before-keyed-answer` for every request with an
 * `Idempotency-Key`, for tests: the request's effect is committed, and its client has received nothing. Call this before
 * the routes are made.
 */
function pauseBeforeAnswers(app: NestFastifyApplication): void {
  const pausePoints = app.get(PausePoints, { strict: false });
  const instance = (app.getHttpAdapter() as unknown as SlipwayHttpAdapter).getInstance();
  instance.addHook('onSend', async (request, reply) => {
    const route = routeOf(request);
    if (!route || reply.statusCode >= 300) return;
    await pausePoints.reach(`http:before-answer:${route.operationId}`);
    if ((request as SlipwayRequest).slipway.keyed) await pausePoints.reach('http:before-keyed-answer');
  });
}
