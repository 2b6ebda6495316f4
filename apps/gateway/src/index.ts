export { Gateway, type GatewayOptions } from './gateway.js';
export { DEFAULT_SETTINGS, type GatewaySettings } from './settings.js';
