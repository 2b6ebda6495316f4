import path from 'node:path';
import { loadConfigOrExit } from '@slipway/platform-config';
import { writeBackup } from '@slipway/platform-database';
import { keptFiles } from './kept-files.js';

const config = loadConfigOrExit();
const [folder] = process.argv.slice(2);

try {
  if (!folder) throw new Error('name a new folder: npm run backup -- <folder>');
  const files = keptFiles(config);
  const { rows, kept } = await writeBackup(path.resolve(folder), config.database.url, files);
  process.stdout.write(`backed up ${rows} rows and ${kept.join(', ') || 'no files'} to ${path.resolve(folder)}\n`);
  if (!kept.includes('secret-key'))
    process.stdout.write('SLIPWAY_SECRET_KEY is not in it: without that key no stored credential opens\n');
  if (!files['workspaces'])
    process.stdout.write(`sandbox files are not in it: they stand in ${config.upload.workspaceStore}\n`);
} catch (failure) {
  process.stderr.write(`no back-up was made: ${failure instanceof Error ? failure.message : String(failure)}\n`);
  process.exitCode = 1;
}
