import path from 'node:path';
import { makeHome } from '@slipway/platform-config';
import { restoreFiles } from '@slipway/platform-database';
import { runDatabaseCommand } from './database-command.js';

// `npm run restore -- <folder>`
const [folder] = process.argv.slice(2);
await runDatabaseCommand({
  entry: 'restore.js',
  args: process.argv.slice(2),
  besideStack: false,
  // The embedded Postgres of a new home would get a new key, which cannot decrypt the backup.
  prepare: async (home) => {
    if (!folder) throw new Error('The folder of the backup is missing. Usage: npm run restore -- <folder>');
    makeHome(home);
    await restoreFiles(path.resolve(folder), { 'secret-key': path.join(home, 'secret-key') });
  },
});
