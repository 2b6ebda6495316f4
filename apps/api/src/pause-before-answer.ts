import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { routeOf, type SlipwayHttpAdapter } from '@slipway/platform-http';
import { PausePoints } from '@slipway/platform-config';

/**
 * Pause points `http:before-answer:<operationId>`, for tests: what the request did is committed, and its client has heard
 * nothing. Call before the routes are made.
 */
export function pauseBeforeAnswers(app: NestFastifyApplication): void {
  const pausePoints = app.get(PausePoints, { strict: false });
  const instance = (app.getHttpAdapter() as unknown as SlipwayHttpAdapter).getInstance();
  instance.addHook('onSend', async (request, reply) => {
    const route = routeOf(request);
    if (route && reply.statusCode < 300) await pausePoints.reach(`http:before-answer:${route.operationId}`);
  });
}
