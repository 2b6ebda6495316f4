export { EndpointDriver } from './endpoint-driver.js';
export type { EndpointDriverOptions, EndpointTargetConfig } from './endpoint-driver.js';
