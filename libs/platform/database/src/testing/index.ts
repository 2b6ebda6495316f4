// Lightweight: code that starts the product as processes needs neither Nest nor TypeORM itself. `./database-bed.js`
// needs both.
export { copyOf, createTestDatabase, type Template, type TestDatabase } from './test-database.js';
export { TcpProxy } from './tcp-proxy.js';
export { freePort } from './free-port.js';
export { beside, holdIntervals, Latch, until } from './waiting.js';
