import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cannotStart, childEnvironment, environmentOf, secretNames, type Config } from '@slipway/platform-config';
import { secretKey } from './home-secrets.js';
import { onStopRequest, surviveClosedPipes } from './launcher.js';
import { otherLauncher } from './run-record.js';
import { stackConfig } from './stack-config.js';
import { embeddedDatabase } from './stack-database.js';
import { migrate } from './stack.js';

// `npm run migrate`: migrates DATABASE_URL or the embedded Postgres (of the running stack, or started for the
// migration), and exits.
surviveClosedPipes();
// A running migration is not interrupted, and a Postgres that was started for it is stopped in any case.
onStopRequest(() => undefined);
const entry = fileURLToPath(new URL('../../../apps/api/dist/migrate.js', import.meta.url));
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const env = childEnvironment();

try {
  const config = stackConfig(env, process.cwd());
  const home = path.resolve(config.home);
  if (!config.database.embedded || otherLauncher(home))
    await migrate(entry, own({ SLIPWAY_HOME: home }, config), process.cwd(), log);
  else await migrateStopped(home, config);
} catch (error) {
  cannotStart('migration', error);
}
process.exit(0);

function own(changes: NodeJS.ProcessEnv, { operator }: Config): NodeJS.ProcessEnv {
  return environmentOf('migrate', { ...env, ...changes }, secretNames(operator));
}

async function migrateStopped(home: string, config: Config): Promise<void> {
  const database = await embeddedDatabase(home, env['SLIPWAY_SECRET_KEY'] || secretKey(home).value, log);
  try {
    await migrate(entry, own({ ...database.env, SLIPWAY_HOME: home }, config), process.cwd(), log);
  } finally {
    await database.stop();
  }
}
