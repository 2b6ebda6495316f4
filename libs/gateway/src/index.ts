export { Gateway } from './gateway.js';
export type { GatewayOptions } from './gateway-options.js';
export { unfitSchema } from './postgres/schema.js';
export { type GatewaySettings } from './settings.js';
export { ForeignKeyError } from './upstream/credentials.js';
