export { createTestDatabase, type TestDatabase } from './test-database.js';
export { TcpProxy } from './tcp-proxy.js';
export { freePort } from './free-port.js';
