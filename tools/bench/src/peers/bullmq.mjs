// Bare BullMQ: a job is an operation. Arguments after the database: `redis` and its address, or `postgres`.
import { createPostgresBackend, Queue, Worker, withBackend } from 'bullmq';
import { CONCURRENCY, databaseUrl, ended, fiveSteps, rest, serve } from './engine.mjs';

const [backend, redisUrl] = rest;
const bull = backend === 'redis' ? { Queue, Worker } : withBackend(createPostgresBackend);
const connection =
  backend === 'redis'
    ? { url: redisUrl, maxRetriesPerRequest: null }
    : { connectionString: databaseUrl, schema: 'bench_bullmq', migrate: true };
const kept = { removeOnComplete: true, removeOnFail: true };

const queue = new bull.Queue('bench', { connection, defaultJobOptions: kept });
await queue.waitUntilReady();
const worker = new bull.Worker('bench', ({ data }) => fiveSteps(data.key), { connection, concurrency: CONCURRENCY });
worker.on('completed', ({ data }) => ended(data.key));
await worker.waitUntilReady();
serve((key) => queue.add('bench', { key }));
