export {
  addressOf,
  CONFIG,
  ConfigError,
  EXIT_CONFIG,
  loadConfig,
  loadConfigOrExit,
  type Config,
  type LoadOptions,
} from './config.js';
export { ConfigModule } from './config.module.js';
export { PausePoints } from './pause-points.js';
export { childEnvironment, resolveSecret } from './environment.js';
export { ConfigReader } from './config-reader.js';
export {
  allowedOrigins,
  ENV_NAME,
  NAME,
  OperatorConfigError,
  parseOperatorConfig,
  type OperatorConfig,
  type TargetConfig,
  type TargetReader,
} from './operator-config.js';
export { readStackFile, removeStackFile, writeStackFile, type StackFile } from './stack-file.js';
export { VARIABLES } from './variables.js';
