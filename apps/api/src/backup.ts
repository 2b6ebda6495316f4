import path from 'node:path';
import { loadConfigOrExit } from '@slipway/platform-config';
import { writeBackup } from '@slipway/platform-database';
import { keptFiles } from './kept-files.js';

const config = loadConfigOrExit({ process: 'tools' });
const [folder] = process.argv.slice(2);

try {
  if (!folder) throw new Error('specify a new folder: npm run backup -- <folder>');
  const files = keptFiles(config);
  const { rows, kept } = await writeBackup(path.resolve(folder), config.database.url, files);
  process.stdout.write(`backed up ${rows} rows and ${kept.join(', ') || 'no files'} to ${path.resolve(folder)}\n`);
  if (!kept.includes('secret-key'))
    process.stdout.write(
      'the backup does not contain SLIPWAY_SECRET_KEY: without that key, stored credentials cannot be decrypted\n',
    );
  if (!files['workspaces'])
    process.stdout.write(
      `the backup does not contain sandbox files: they are stored in ${config.upload.workspaceStore}\n`,
    );
} catch (failure) {
  process.stderr.write(`the backup failed: ${failure instanceof Error ? failure.message : String(failure)}\n`);
  process.exitCode = 1;
}
