// The product's areas: one line each, and nothing else. Later areas build on earlier ones: an area may use the ports of
// those above it, never of those below (a lint rule reads this list). `nx g area <name>` adds one at the end.
export * as deploymentRecords from '@slipway/area-revisions/deployment-records';
export * as revisions from '@slipway/area-revisions/revisions';
export * as instances from '@slipway/area-instances';
export * as routing from '@slipway/area-routing';
export * as policies from '@slipway/area-inference-optimization/policies';
export * as plans from '@slipway/area-inference-optimization/plans';
export * as rollouts from '@slipway/area-rollouts';
export * as deployments from '@slipway/area-deployments';
export * as autopilot from '@slipway/area-autopilot';
export * as modelApiAdministration from '@slipway/area-model-apis/model-api-administration';
export * as catalog from '@slipway/area-model-apis/catalog';
export * as contextPassport from '@slipway/area-context-passport';
export * as webhooks from '@slipway/area-webhooks';
export * as sandboxes from '@slipway/area-sandboxes';
export * as audit from '@slipway/area-audit';
export * as identity from '@slipway/area-identity';
export * as console from '@slipway/area-console';
export * as operations from '@slipway/area-operations';
export * as system from '@slipway/area-system';
