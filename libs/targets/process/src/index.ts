export { ProcessDriver, type ProcessDriverOptions, type ProcessTargetConfig } from './process-driver.js';
export { processTarget } from './process-target.js';
export type { EngineConfig } from './templates/engine-config.js';
export { builtInEngines } from './templates/builtin/index.js';
export { fillHome } from './templates/model-sources.js';
