export { Gateway, type GatewayOptions } from './gateway.js';
export { type GatewaySettings } from './settings.js';
