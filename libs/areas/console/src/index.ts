import type { SealedColumn } from '@slipway/platform-database';
import { contextOf } from './sessions/console-sessions.js';
import { ConsoleSessions1700000001500 } from './migrations/1700000001500-console-sessions.js';

export { ConsoleModule } from './console.module.js';
export const migrations = [ConsoleSessions1700000001500];
export const sealed: readonly SealedColumn[] = [
  {
    table: 'console_sessions',
    id: 'id',
    column: 'sealed_credentials',
    renewed: ({ id, sealed_credentials }, reseal) => reseal(sealed_credentials as string, contextOf(id as string)),
  },
];
