export { HTTP_PATH, PROFILE_SCHEMAS } from './profile-schemas.js';
export {
  type DriverHost,
  type EngineDescription,
  type EngineLoad,
  type EngineTraits,
  type InstanceRef,
  type InstanceSpec,
  type InstanceSpecIssue,
  type ModelsAnswer,
  type Observation,
  type ObservedState,
  type StartPreparation,
  type TargetDriver,
  type TargetHealth,
  type TargetKind,
  type UnitLocation,
  type UnknownUnits,
  assertSpec,
  awayText,
  InvalidSpecError,
  TARGET_KINDS,
  TargetConfigError,
} from './driver.js';
export { LineReader, MAX_LINE_BYTES, type LogLine, type LogOptions } from './logs.js';
export { redactor, redactSecrets, type Redactor } from './redaction.js';
export { downloadProgress, SEARCHED_LINES, startFailure, type StartEnd } from './start-failure.js';
export { askEngineLoad, readEngineLoad } from './engine-load.js';
export type { CallableServer } from './engine-call.js';
export { sendReadyRequest, type ReadyAnswer } from './ready-request.js';
export { causeOf, HealthHistory, probeHealth, type HealthAnswer } from './health.js';
export { checkModelList, describeModels, isListed, isNamed, readModelList } from './model-names.js';
export { fieldOf } from './served-requests.js';
export {
  declaredArgs,
  textProblem,
  type DeclaredArg,
  fillCommand,
  fillEnvironment,
  fillPlaceholders,
  MODEL_FIELDS,
  modelValues,
  placeholderProblems,
  placeholdersIn,
  provableIdentity,
  type PlaceholderValues,
  argIssues,
  engineIssue,
  environmentIssues,
  gpuIssues,
  instanceIssues,
  modelIssues,
  SAFE_NAME,
  valueIssue,
  type CheckedTemplate,
  DEFAULT_READY_SECONDS,
  liveOf,
  placeholdersOf,
  templateTraits,
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
