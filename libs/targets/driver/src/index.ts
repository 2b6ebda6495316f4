export { HTTP_PATH, PROFILE_SCHEMAS } from './profile-schemas.js';
export type {
  EngineDescription,
  EngineLoad,
  EngineTraits,
  InstanceRef,
  InstanceSpec,
  ObservedState,
  LogLine,
  LogOptions,
  ModelsAnswer,
  Observation,
  StartPreparation,
  InstanceSpecIssue,
  TargetDriver,
  TargetHealth,
} from './driver.js';
export { InvalidSpecError, TargetConfigError, assertSpec } from './driver.js';
export { TARGET_KINDS, type DriverHost, type TargetKind } from './target-kind.js';
export { redactSecrets } from './log-redaction.js';
export { downloadProgress, SEARCHED_LINES, startFailure, type StartEnd } from './start-failure.js';
export { askEngineLoad, readEngineLoad } from './engine-load.js';
export { LineReader, MAX_LINE_BYTES } from './log-text.js';
export { causeOf, HealthHistory, probeHealth } from './health.js';
export type { HealthAnswer } from './health.js';
export { isListed, checkModelList, describeModels } from './model-names.js';
export { fieldOf } from './served-requests.js';
export {
  fillPlaceholders,
  MODEL_FIELDS,
  modelValues,
  placeholdersIn,
  provableIdentity,
  type PlaceholderValues,
} from './placeholders.js';
export { engineIssue, instanceIssues, SAFE_NAME } from './templates/instance-check.js';
export { declaredArgs, textProblem, type DeclaredArg } from './templates/declared-arg.js';
export {
  argIssues,
  environmentIssues,
  gpuIssues,
  modelIssues,
  valueIssue,
  type CheckedTemplate,
} from './templates/template-check.js';
export type { ArgConfig, LiveConfig, MetricsConfig, TemplateConfig } from './templates/template-config.js';
export {
  argProblems,
  commandProblems,
  environmentProblems,
  gpuProblems,
  templateIdentityProblems,
  variableProblems,
  type TemplateProblem,
} from './templates/template-problems.js';
export { ARG, ARG_NAME, ENV, mapping, seconds, TEMPLATE, TEXT, WORDS } from './templates/template-schemas.js';
export { checkArgNames, checkCommandShape } from './templates/template-shapes.js';
export { fillCommand, fillEnvironment, placeholderProblems } from './templates/template-text.js';
export { DEFAULT_READY_SECONDS, liveOf, placeholdersOf, templateTraits } from './templates/template-traits.js';
