// Light: what starts the product as processes needs neither Nest nor TypeORM for its own. `./database-bed.js` has both.
export { copyOf, createTestDatabase, type Template, type TestDatabase } from './test-database.js';
export { TcpProxy } from './tcp-proxy.js';
export { freePort } from './free-port.js';
export { beside, holdIntervals, Latch, until } from './waiting.js';
