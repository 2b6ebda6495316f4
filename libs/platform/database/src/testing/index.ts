export { createTestDatabase, type TestDatabase } from './test-database.js';
export { TcpProxy } from './tcp-proxy.js';
export { freePort } from './free-port.js';
export { DatabaseBed } from './database-bed.js';
export { beside, holdIntervals, Pending, until } from './waiting.js';
export { dataSourceOptions } from '../database.module.js';
