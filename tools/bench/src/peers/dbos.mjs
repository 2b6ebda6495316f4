// DBOS: a workflow of five steps, which starts where it is accepted; it stores the steps in its own tables.
import { DBOS } from '@dbos-inc/dbos-sdk';
import { begun, CONCURRENCY, databaseUrl, ended, serve } from './engine.mjs';

DBOS.setConfig({
  name: 'bench',
  systemDatabaseUrl: databaseUrl,
  systemDatabasePoolSize: CONCURRENCY,
  logLevel: 'error',
});
const operation = DBOS.registerWorkflow(
  async (key) => {
    for (const name of ['one', 'two', 'three', 'four', 'five']) await DBOS.runStep(async () => begun(key), { name });
  },
  { name: 'operation' },
);
await DBOS.launch();
// DBOS starts each workflow at once, so only the number of callers limits the concurrency.
serve((key) => operation(key).then(() => ended(key)));
