import path from 'node:path';
import { loadConfigOrExit } from '@slipway/platform-config';
import { restoreBackup } from '@slipway/platform-database';
import { MIGRATIONS } from '@slipway/registry';
import { keptFiles } from './kept-files.js';

const config = loadConfigOrExit({ process: 'tools' });
const [folder] = process.argv.slice(2);

try {
  if (!folder) throw new Error('specify the folder of the backup: npm run restore -- <folder>');
  const { migrateUrl: ownerUrl, url: appUrl, gatewayUrl } = config.database;
  await restoreBackup(
    path.resolve(folder),
    { ownerUrl, appUrl, gatewayUrl, migrations: MIGRATIONS },
    keptFiles(config),
  );
  process.stdout.write(`restored ${path.resolve(folder)}\n`);
} catch (failure) {
  process.stderr.write(`nothing was restored: ${failure instanceof Error ? failure.message : String(failure)}\n`);
  process.exitCode = 1;
}
