export { OperationsAreaModule } from './operations.module.js';

/** The tables belong to the platform. */
export const entities: Function[] = [];
export const migrations: (new () => never)[] = [];
