export {
  addressOf,
  CONFIG,
  ConfigError,
  EXIT_CONFIG,
  followOperatorFile,
  loadConfig,
  loadConfigOrExit,
  type Config,
  type LoadedConfig,
  type LoadOptions,
} from './config.js';
export { ConfigModule, PausePoints } from './config.module.js';
export {
  childEnvironment,
  foreignEnvironment,
  resolveSecret,
  secretNames,
  systemEnvironment,
} from './variables/environment.js';
export { loadKinds } from './kinds-on-demand.js';
export { KeyRing, type Key } from './key-ring.js';
export { BUILT_IN_SETTINGS } from './built-in-settings.js';
export { ConfigReader, isMisspelling } from './config-reader.js';
export { readAs } from './schema-reader.js';
export { merged } from './added-settings.js';
export {
  ENV_NAME,
  NAME,
  OperatorConfigError,
  parseOperatorConfig,
  type BuiltIn,
  type OperatorConfig,
  type SecretConfig,
  type SecretReference,
  type TargetConfig,
  type TargetReader,
} from './operator-config.js';
export { operatorSchema, partOf } from './operator-schema.js';
export { ALLOW, keysOf, type MappingSchema, type Schema } from './setting-schemas.js';
export {
  hasQuotasByTenant,
  QUOTAS,
  quotasOf,
  type QuotaConfig,
  type QuotaName,
  type Quotas,
  type QuotaSettings,
} from './quotas.js';
export {
  dependsOnNeighbours,
  shareOf,
  type SharedTarget,
  type TargetShare,
  type TenantShare,
} from './target-shares.js';
export {
  OperatorFileWatch,
  type FileLog,
  type OperatorFile,
  OperatorSettings,
  type OperatorFileState,
  type SettingsPreparation,
} from './operator-settings.js';
export { type Outbound } from './outbound.js';
export {
  multiplyMoney,
  priceOf,
  type AcceleratorConfig,
  type Accelerators,
  type Money,
  type PriceConfig,
} from './prices.js';
export { RETENTION, retentionOf, type Retention, type RetentionName } from './retention.js';
export { readStackFile, removeStackFile, writeStackFile, type StackFile } from './stack-file.js';
export { PROCESSES, type ProcessName } from './variables/processes.js';
export { ALL_VARIABLES, environmentOf, VARIABLES, type VariableRow } from './variables/variables.js';
export {
  cannotStart,
  listenFault,
  makeHome,
  networkFault,
  oneLine,
  reach,
  StartupError,
  type ReachOptions,
  type ServiceFault,
} from './startup.js';
