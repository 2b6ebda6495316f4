export { addressOf, ConfigError, EXIT_CONFIG, loadConfig, loadConfigOrExit, type Config } from './config.js';
export { CONFIG, ConfigModule } from './config.module.js';
export { childEnvironment, resolveSecret } from './environment.js';
export { ENGINE_PLACEHOLDERS, OperatorConfigError, parseOperatorConfig } from './operator-config.js';
export type {
  EndpointTargetConfig,
  EngineConfig,
  OperatorConfig,
  ProcessTargetConfig,
  TargetConfig,
} from './operator-config.js';
export { parseAllowPattern, type AllowPattern } from './allow-pattern.js';
export { readStackFile, removeStackFile, writeStackFile, type StackFile } from './stack-file.js';
export { VARIABLES } from './variables.js';
