import { Global, Module, type DynamicModule } from '@nestjs/common';
import type { Config } from '@slipway/platform-config';
import { OPERATION_QUEUE } from './operation-queue.js';
import type { QueueBackend } from './queue-session.js';
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

/** The queue without Nest; it already connects. */
export function createOperationQueue(
  config: Pick<Config, 'queue' | 'database'>,
  times?: Partial<SupervisionTimes>,
): SupervisedQueue {
  const { backend, redisUrl } = config.queue;
  if (backend === 'redis' && !redisUrl) throw new Error('QUEUE_BACKEND is redis, but REDIS_URL is not set');
  // BullMQ and its Redis client are loaded here, because the api also imports this library. It has no queue, and starts
  // sooner without them.
  const open = async (onError: (error: Error) => void): Promise<QueueBackend> =>
    backend === 'redis'
      ? (await import('./redis-backend.js')).openRedisBackend(redisUrl!, onError)
      : (await import('./postgres-backend.js')).openPostgresBackend(config.database.url);
  const queue = new SupervisedQueue(open, times);
  queue.start();
  return queue;
}
