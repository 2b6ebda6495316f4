export {
  OPERATION_QUEUE,
  QueueUnavailableError,
  type OperationQueue,
  type WakeUp,
  type WakeUpHandler,
} from './operation-queue.js';
export { QueueModule } from './queue.module.js';
export { reachRedis, redisFault } from './reach-redis.js';
