// The product's areas: one line each, and nothing else. `nx g area <name>` adds one.
export * as audit from '@slipway/area-audit';
export * as autopilot from '@slipway/area-autopilot';
export * as contextPassport from '@slipway/area-context-passport';
export * as deployments from '@slipway/area-deployments';
export * as identity from '@slipway/area-identity';
export * as inferenceOptimization from '@slipway/area-inference-optimization';
export * as modelApiAdministration from '@slipway/area-model-api-administration';
export * as modelApis from '@slipway/area-model-apis';
export * as operations from '@slipway/area-operations';
export * as revisions from '@slipway/area-revisions';
export * as routing from '@slipway/area-routing';
export * as sandboxes from '@slipway/area-sandboxes';
export * as system from '@slipway/area-system';
export * as targets from '@slipway/area-targets';
export * as webhooks from '@slipway/area-webhooks';
