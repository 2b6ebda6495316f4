// graphile-worker: a job is an operation. Argument after the database: `default`, or `tuned` (jobs fetched and completed in batches).
import { makeWorkerUtils, run } from 'graphile-worker';
import { CONCURRENCY, databaseUrl, ended, fiveSteps, rest, serve } from './engine.mjs';

const batches = { localQueue: { size: 5 * CONCURRENCY }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
const connection = { connectionString: databaseUrl, maxPoolSize: CONCURRENCY + 2 };

const utils = await makeWorkerUtils(connection);
await utils.migrate();
const runner = await run({
  ...connection,
  concurrency: CONCURRENCY,
  noHandleSignals: true,
  taskList: { bench: ({ key }) => fiveSteps(key) },
  ...(rest[0] === 'tuned' && { preset: { worker: batches } }),
});
runner.events.on('job:complete', ({ job }) => ended(job.payload.key));
serve((key) => utils.addJob('bench', { key }));
