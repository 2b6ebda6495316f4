export { ProcessDriver } from './process-driver.js';
export type { ProcessDriverOptions, ProcessTargetConfig } from './process-driver.js';
export type { EngineConfig } from './engine-template.js';
export type { PortRange } from './port-reservations.js';
