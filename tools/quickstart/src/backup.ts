import { runDatabaseCommand } from './database-command.js';

// `npm run backup -- <folder>`
await runDatabaseCommand({ entry: 'backup.js', args: process.argv.slice(2), besideStack: true });
