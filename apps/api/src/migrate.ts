import { cannotStart, loadConfigOrExit } from '@slipway/platform-config';
import { migrate, reachPostgres } from '@slipway/platform-database';
import { MIGRATIONS } from '@slipway/registry';

const { database, logLevel } = loadConfigOrExit({ process: 'migrate' });
// A person waits for this command, so it gives up even in production.
const options = { isPatient: false, say: (line: string) => void process.stderr.write(`${line}\n`) };

try {
  await reachPostgres(database, { ...options, login: 'migrateUrl' });
} catch (error) {
  cannotStart('migration', error, logLevel);
}
try {
  const applied = await migrate(database.migrateUrl, MIGRATIONS, database.url, database.gatewayUrl);
  process.stdout.write(
    applied.length === 0 ? 'nothing to migrate\n' : `${applied.map((name) => `migrated ${name}`).join('\n')}\n`,
  );
} catch (failure) {
  process.stderr.write(`migration failed: ${failure instanceof Error ? failure.message : String(failure)}\n`);
  process.exitCode = 1;
}
