export { ProcessDriver, type ProcessDriverOptions, type ProcessTargetConfig } from './process-driver.js';
export { processTarget } from './process-target.js';
export type { EngineConfig } from './engine-template.js';
