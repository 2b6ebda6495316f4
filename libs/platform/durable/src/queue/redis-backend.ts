import { randomUUID } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { QUEUE_NAME, queueOptions, workerOptions, type QueueBackend } from './queue-session.js';

/** Gone after FLUSHALL; whoever starts next writes another value. */
const EPOCH_KEY = `bull:${QUEUE_NAME}:epoch`;

class RedisWorker extends Worker<{ operationId: string }> {
  stopRenewals(): Promise<void> {
    return this.lockManager.close();
  }
}

/** Connections: one that adds and probes and, in a process that consumes, two of the worker (commands, blocking wait). */
export async function openRedisBackend(redisUrl: string, onError: (error: Error) => void): Promise<QueueBackend> {
  const producer = new Redis(redisUrl, {
    lazyConnect: true,
    connectTimeout: 3000,
    // Fails fast: a wake-up that waits in this process's memory is one that the outbox believes to be sent.
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
    // BullMQ demands null: its blocking wait must outlive any number of reconnects.
    this.consumer = new Redis(this.redisUrl, {
      lazyConnect: true,
      connectTimeout: 3000,
      maxRetriesPerRequest: null,
      // BullMQ's copy of this client for the blocking wait takes the option over. Without an end it would reconnect for ever
      // when it was told to disconnect while it was reconnecting.
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
