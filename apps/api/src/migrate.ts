import { loadConfigOrExit } from '@slipway/platform-config';
import { migrate } from '@slipway/platform-database';
import { MIGRATIONS } from '@slipway/registry';

const { database } = loadConfigOrExit();

try {
  const applied = await migrate(database.migrateUrl, MIGRATIONS, database.url);
  process.stdout.write(
    applied.length === 0 ? 'nothing to migrate\n' : `${applied.map((name) => `migrated ${name}`).join('\n')}\n`,
  );
} catch (failure) {
  process.stderr.write(`migration failed: ${failure instanceof Error ? failure.message : String(failure)}\n`);
  process.exitCode = 1;
}
