import './worker.entity.js';
import { SchemaSeen1700000001601 } from './migrations/1700000001601-schema-seen.js';
import { SystemWorkers1700000001600 } from './migrations/1700000001600-system-workers.js';

export { SystemModule } from './system.module.js';

export const migrations = [SystemWorkers1700000001600, SchemaSeen1700000001601];
