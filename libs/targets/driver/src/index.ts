export { HTTP_PATH, PROFILE_SCHEMAS } from './profile-schemas.js';
export type {
  DriverHost,
  EngineDescription,
  EngineLoad,
  EngineTraits,
  InstanceRef,
  InstanceSpec,
  InstanceSpecIssue,
  ModelsAnswer,
  Observation,
  ObservedState,
  StartPreparation,
  TargetDriver,
  TargetHealth,
  TargetKind,
} from './driver.js';
export { assertSpec, InvalidSpecError, TARGET_KINDS, TargetConfigError } from './driver.js';
export { LineReader, MAX_LINE_BYTES, redactSecrets, type LogLine, type LogOptions } from './logs.js';
export { downloadProgress, SEARCHED_LINES, startFailure, type StartEnd } from './start-failure.js';
export { askEngineLoad, readEngineLoad } from './engine-load.js';
export { causeOf, HealthHistory, probeHealth, type HealthAnswer } from './health.js';
export { checkModelList, describeModels, isListed } from './model-names.js';
export { fieldOf } from './served-requests.js';
export { declaredArgs, textProblem, type DeclaredArg } from './templates/declared-arg.js';
export {
  fillCommand,
  fillEnvironment,
  fillPlaceholders,
  MODEL_FIELDS,
  modelValues,
  placeholderProblems,
  placeholdersIn,
  provableIdentity,
  type PlaceholderValues,
} from './templates/placeholders.js';
export {
  argIssues,
  engineIssue,
  environmentIssues,
  gpuIssues,
  instanceIssues,
  modelIssues,
  SAFE_NAME,
  valueIssue,
  type CheckedTemplate,
} from './templates/spec-check.js';
export type { ArgConfig, LiveConfig, MetricsConfig, TemplateConfig } from './templates/template-config.js';
export {
  argProblems,
  checkArgNames,
  checkCommandShape,
  commandProblems,
  environmentProblems,
  gpuProblems,
  templateIdentityProblems,
  variableProblems,
  type TemplateProblem,
} from './templates/template-problems.js';
export { ARG, ARG_NAME, ENV, mapping, seconds, TEMPLATE, TEXT, WORDS } from './templates/template-schemas.js';
export { DEFAULT_READY_SECONDS, liveOf, placeholdersOf, templateTraits } from './templates/template-traits.js';
