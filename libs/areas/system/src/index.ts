export { SystemModule } from './system.module.js';

export const migrations: (new () => never)[] = [];
