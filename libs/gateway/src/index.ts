export { Gateway, type GatewayOptions } from './gateway.js';
export { unfitSchema } from './postgres/postgres.link.js';
export { type GatewaySettings } from './settings.js';
export { ForeignKeyError } from './upstream/credentials.js';
