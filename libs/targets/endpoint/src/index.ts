export { type EndpointDriverOptions, type EndpointTargetConfig } from './endpoint-driver.js';
export { endpointTarget } from './endpoint-target.js';
