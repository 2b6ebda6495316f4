import { randomUUID } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { QUEUE_NAME, queueOptions, workerOptions, type QueueBackend } from './queue-session.js';

/** FLUSHALL removes it; the process that starts next writes another value. */
const EPOCH_KEY = `bull:${QUEUE_NAME}:epoch`;

class RedisWorker extends Worker<{ operationId: string }> {
  stopRenewals(): Promise<void> {
    return this.lockManager.close();
  }
}

/**
 * Connections: one that adds and probes, and, in a process that consumes, two of the worker (commands, blocking wait).
 */
export async function openRedisBackend(redisUrl: string, onError: (error: Error) => void): Promise<QueueBackend> {
  const producer = new Redis(redisUrl, {
    lazyConnect: true,
    connectTimeout: 3000,
    // Fails fast: the outbox would believe that a wake-up was sent while it still waits in this process's memory.
    commandTimeout: 3000,
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
  });
  producer.on('error', onError);
  try {
    await producer.connect();
    await producer.set(EPOCH_KEY, randomUUID(), 'NX');
  } catch (error) {
    producer.disconnect();
    throw error;
  }
  return new RedisBackend(redisUrl, producer, onError);
}

class RedisBackend implements QueueBackend {
  private consumer?: Redis;
  private ended = false;

  constructor(
    private readonly redisUrl: string,
    private readonly producer: Redis,
    private readonly onError: (error: Error) => void,
  ) {}

  openQueue() {
    return new Queue(QUEUE_NAME, { ...queueOptions, connection: this.producer });
  }

  async openWorker(process: (operationId: string) => Promise<void>, concurrency: number) {
    // BullMQ requires null, because its blocking wait must survive any number of reconnects.
    this.consumer = new Redis(this.redisUrl, {
      lazyConnect: true,
      connectTimeout: 3000,
      maxRetriesPerRequest: null,
      // BullMQ copies this option to its client for the blocking wait. Without an end, that client would reconnect
      // forever if it had to disconnect during a reconnect.
      retryStrategy: (attempt) => (this.ended ? null : Math.min(attempt * 100, 1000)),
    });
    this.consumer.on('error', this.onError);
    await this.consumer.connect();
    return new RedisWorker(QUEUE_NAME, (job) => process(job.data.operationId), {
      ...workerOptions,
      concurrency,
      connection: this.consumer,
    });
  }

  async identity(): Promise<string> {
    const epoch = await this.producer.get(EPOCH_KEY);
    if (!epoch) throw new Error('the data of Redis was wiped');
    return epoch;
  }

  async disconnect(): Promise<void> {
    this.ended = true;
    this.consumer?.disconnect();
    this.producer.disconnect();
  }
}
