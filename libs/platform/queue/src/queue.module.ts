import { Global, Module, type DynamicModule } from '@nestjs/common';
import type { Config } from '@slipway/platform-config';
import { OPERATION_QUEUE } from './operation-queue.js';
import { openPostgresBackend } from './postgres-backend.js';
import { openRedisBackend } from './redis-backend.js';
import { SupervisedQueue, type SupervisionTimes } from './supervised-queue.js';

/** Provides OPERATION_QUEUE to the whole process and closes it at shutdown. */
@Global()
@Module({})
export class QueueModule {
  static forRoot(config: Pick<Config, 'queue' | 'database'>): DynamicModule {
    return {
      module: QueueModule,
      providers: [{ provide: OPERATION_QUEUE, useFactory: () => createOperationQueue(config) }],
      exports: [OPERATION_QUEUE],
    };
  }
}

/** The queue without Nest, already connecting. */
export function createOperationQueue(
  config: Pick<Config, 'queue' | 'database'>,
  times?: Partial<SupervisionTimes>,
): SupervisedQueue {
  const { backend, redisUrl } = config.queue;
  if (backend === 'redis' && !redisUrl) throw new Error('QUEUE_BACKEND is redis, but REDIS_URL is not set');
  const queue = new SupervisedQueue(
    (onError) =>
      backend === 'redis' ? openRedisBackend(redisUrl!, onError) : openPostgresBackend(config.database.url),
    times,
  );
  queue.start();
  return queue;
}
