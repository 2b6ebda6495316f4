// pg-boss: a job is an operation. Notifications wake it; without batches it would fetch once per interval.
import { PgBoss } from 'pg-boss';
import { CONCURRENCY, databaseUrl, ended, fiveSteps, serve } from './engine.mjs';

const boss = new PgBoss({ connectionString: databaseUrl, max: CONCURRENCY, useListenNotify: true });
boss.on('error', (error) => console.error(error));
await boss.start();
await boss.createQueue('bench', { notify: true });
const batches = { localConcurrency: 2, batchSize: CONCURRENCY / 2, burstWhenBatchFull: true };
await boss.work('bench', { ...batches, pollingIntervalSeconds: 0.5 }, async (jobs) => {
  await Promise.all(jobs.map(({ data }) => fiveSteps(data.key)));
  for (const { data } of jobs) ended(data.key);
});
serve((key) => boss.send('bench', { key }));
