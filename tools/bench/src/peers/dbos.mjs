// DBOS: a workflow of five steps, started where it is accepted; it keeps the steps in its own tables.
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
// It starts what it is given at once, so that the callers are what bounds it.
serve((key) => operation(key).then(() => ended(key)));
