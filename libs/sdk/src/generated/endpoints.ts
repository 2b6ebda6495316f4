// Made by `npm run openapi` from libs/sdk/openapi.json; changes here are overwritten.

import type { operations } from './api.js';

export interface Endpoint {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: readonly string[];
  /** Whether it accepts an Idempotency-Key. */
  readonly takesKey?: boolean;
  readonly takesIfMatch?: boolean;
}

/** Where each operation of the api is found, and what it takes beside its path and its body. */
export const ENDPOINTS: Readonly<Record<keyof operations, Endpoint>> = {
  approveAutopilotPlan: { method: 'POST', path: '/api/v1/autopilot/plans/{id}/approve', takesKey: true },
  cancelOperation: { method: 'POST', path: '/api/v1/operations/{id}/cancel', takesKey: true },
  createAutopilotPlan: { method: 'POST', path: '/api/v1/autopilot/plans', takesKey: true },
  createContextPassport: { method: 'POST', path: '/api/v1/context-passports', takesKey: true },
  createDeployment: { method: 'POST', path: '/api/v1/deployments', query: ['validate_only'], takesKey: true },
  createModelApiProduct: { method: 'POST', path: '/api/v1/admin/model-api/products', takesKey: true },
  createModelApiPublication: { method: 'POST', path: '/api/v1/admin/model-api/publications', query: ['validate_only'] },
  createRollback: { method: 'POST', path: '/api/v1/deployments/{name}/rollback', query: ['validate_only'], takesKey: true },
  createRollout: { method: 'POST', path: '/api/v1/deployments/{name}/rollouts', query: ['validate_only'], takesKey: true },
  createSandbox: { method: 'POST', path: '/api/v1/sandboxes', takesKey: true },
  createSandboxReference: { method: 'POST', path: '/api/v1/sandboxes/references', takesKey: true },
  createTargetBinding: { method: 'POST', path: '/api/v1/admin/model-api/target-bindings' },
  createTenant: { method: 'POST', path: '/api/v1/tenants', takesKey: true },
  createToken: { method: 'POST', path: '/api/v1/tokens', takesKey: true },
  createWebhook: { method: 'POST', path: '/api/v1/webhooks', takesKey: true },
  deleteConsoleAccess: { method: 'DELETE', path: '/api/v1/console/access/{id}' },
  deleteContextPassport: { method: 'DELETE', path: '/api/v1/context-passports/{id}/record' },
  deleteDeployment: { method: 'DELETE', path: '/api/v1/deployments/{name}', takesIfMatch: true },
  deleteModelApiProduct: { method: 'DELETE', path: '/api/v1/admin/model-api/products/{id}', takesIfMatch: true },
  deleteSandbox: { method: 'DELETE', path: '/api/v1/sandboxes/{id}', takesIfMatch: true },
  deleteSandboxFile: { method: 'DELETE', path: '/api/v1/sandboxes/{id}/files', query: ['path'], takesIfMatch: true },
  deleteSandboxReference: { method: 'DELETE', path: '/api/v1/sandboxes/references/{id}/record' },
  deleteTargetBinding: { method: 'DELETE', path: '/api/v1/admin/model-api/target-bindings/{id}' },
  deleteWebhook: { method: 'DELETE', path: '/api/v1/webhooks/{id}', takesIfMatch: true },
  diffRevisions: { method: 'GET', path: '/api/v1/deployments/{name}/revisions/{a}/diff/{b}' },
  endDeploymentDrain: { method: 'POST', path: '/api/v1/deployments/{name}/end-drain', takesKey: true },
  getAutopilotCalibration: { method: 'GET', path: '/api/v1/autopilot/calibration' },
  getAutopilotDiagnosis: { method: 'GET', path: '/api/v1/deployments/{name}/autopilot/diagnosis' },
  getAutopilotPlan: { method: 'GET', path: '/api/v1/autopilot/plans/{id}' },
  getContextPassport: { method: 'GET', path: '/api/v1/context-passports/{id}' },
  getContinualOptimizationPolicy: { method: 'GET', path: '/api/v1/deployments/{name}/continual-optimization/policy' },
  getContinualOptimizationPolicyVersion: { method: 'GET', path: '/api/v1/deployments/{name}/continual-optimization/policy/versions/{version}' },
  getDeployment: { method: 'GET', path: '/api/v1/deployments/{name}' },
  getDeploymentMetrics: { method: 'GET', path: '/api/v1/deployments/{name}/metrics', query: ['from', 'to', 'step', 'revision'] },
  getInstanceLogs: { method: 'GET', path: '/api/v1/deployments/{name}/instances/{id}/logs', query: ['tail', 'since', 'since_seconds', 'stream', 'previous', 'follow'] },
  getModelApiCatalogEntry: { method: 'GET', path: '/api/v1/model-api-catalog/{id}' },
  getModelApiProduct: { method: 'GET', path: '/api/v1/admin/model-api/products/{id}' },
  getOperation: { method: 'GET', path: '/api/v1/operations/{id}' },
  getRevision: { method: 'GET', path: '/api/v1/deployments/{name}/revisions/{revision}' },
  getRoute: { method: 'GET', path: '/api/v1/deployments/{name}/route' },
  getSandbox: { method: 'GET', path: '/api/v1/sandboxes/{id}' },
  getSystem: { method: 'GET', path: '/api/v1/system' },
  getTargetBinding: { method: 'GET', path: '/api/v1/admin/model-api/target-bindings/{id}' },
  getWebhook: { method: 'GET', path: '/api/v1/webhooks/{id}' },
  getWebhookDelivery: { method: 'GET', path: '/api/v1/webhooks/{id}/deliveries/{event_id}' },
  listAudit: { method: 'GET', path: '/api/v1/audit', query: ['action', 'actor', 'resource_type', 'resource_name', 'limit', 'cursor', 'order', 'since', 'until'] },
  listAutopilotPlans: { method: 'GET', path: '/api/v1/autopilot/plans', query: ['deployment', 'state', 'limit', 'cursor', 'order', 'since', 'until'] },
  listConsoleAccess: { method: 'GET', path: '/api/v1/console/access', query: ['status', 'limit', 'cursor', 'order', 'since', 'until'] },
  listContextPassports: { method: 'GET', path: '/api/v1/context-passports', query: ['deployment', 'state', 'limit', 'cursor'] },
  listContinualOptimizationPolicyVersions: { method: 'GET', path: '/api/v1/deployments/{name}/continual-optimization/policy/versions', query: ['limit', 'cursor'] },
  listDeploymentEvents: { method: 'GET', path: '/api/v1/deployments/{name}/events', query: ['after', 'type', 'order', 'limit', 'cursor'] },
  listDeployments: { method: 'GET', path: '/api/v1/deployments', query: ['state', 'q', 'environment', 'label', 'limit', 'cursor', 'order', 'since', 'until'] },
  listInstances: { method: 'GET', path: '/api/v1/deployments/{name}/instances', query: ['revision', 'state', 'limit', 'cursor'] },
  listModelApiCatalog: { method: 'GET', path: '/api/v1/model-api-catalog', query: ['limit', 'cursor'] },
  listModelApiProducts: { method: 'GET', path: '/api/v1/admin/model-api/products', query: ['state', 'q', 'limit', 'cursor', 'order', 'since', 'until'] },
  listModelApiPublications: { method: 'GET', path: '/api/v1/admin/model-api/publications', query: ['state', 'product_id', 'limit', 'cursor', 'order', 'since', 'until'] },
  listOperationEvents: { method: 'GET', path: '/api/v1/operations/{id}/events', query: ['after', 'type', 'order', 'limit', 'cursor'] },
  listOperations: { method: 'GET', path: '/api/v1/operations', query: ['status', 'waiting_for', 'kind', 'resource_name', 'limit', 'cursor', 'order', 'since', 'until'] },
  listRevisions: { method: 'GET', path: '/api/v1/deployments/{name}/revisions', query: ['state', 'limit', 'cursor'] },
  listSandboxFiles: { method: 'GET', path: '/api/v1/sandboxes/{id}/files', query: ['path', 'limit', 'cursor'] },
  listSandboxReferences: { method: 'GET', path: '/api/v1/sandboxes/references', query: ['state', 'limit', 'cursor', 'order', 'since', 'until'] },
  listSandboxes: { method: 'GET', path: '/api/v1/sandboxes', query: ['state', 'provider', 'limit', 'cursor', 'order', 'since', 'until'] },
  listTargetBindings: { method: 'GET', path: '/api/v1/admin/model-api/target-bindings', query: ['state', 'product_id', 'limit', 'cursor', 'order', 'since', 'until'] },
  listTargets: { method: 'GET', path: '/api/v1/targets', query: ['limit', 'cursor'] },
  listTenants: { method: 'GET', path: '/api/v1/tenants', query: ['limit', 'cursor'] },
  listTokens: { method: 'GET', path: '/api/v1/tokens', query: ['state', 'limit', 'cursor', 'order', 'since', 'until'] },
  listWebhookDeliveries: { method: 'GET', path: '/api/v1/webhooks/{id}/deliveries', query: ['status', 'event_type', 'limit', 'cursor', 'order', 'since', 'until'] },
  listWebhooks: { method: 'GET', path: '/api/v1/webhooks', query: ['state', 'limit', 'cursor', 'order', 'since', 'until'] },
  pauseOperation: { method: 'POST', path: '/api/v1/operations/{id}/pause', takesKey: true },
  promoteOperation: { method: 'POST', path: '/api/v1/operations/{id}/promote', takesKey: true },
  putSandboxFile: { method: 'PUT', path: '/api/v1/sandboxes/{id}/files', query: ['path', 'mode', 'sha256', 'overwrite'], takesKey: true, takesIfMatch: true },
  qualifyTargetBinding: { method: 'POST', path: '/api/v1/admin/model-api/target-bindings/{id}/qualify', takesKey: true },
  redeliverWebhookEvent: { method: 'POST', path: '/api/v1/webhooks/{id}/deliveries/{event_id}/redeliver', takesKey: true },
  rejectAutopilotPlan: { method: 'POST', path: '/api/v1/autopilot/plans/{id}/reject', takesKey: true },
  restartDeployment: { method: 'POST', path: '/api/v1/deployments/{name}/restart', query: ['validate_only'], takesKey: true },
  resumeOperation: { method: 'POST', path: '/api/v1/operations/{id}/resume', takesKey: true },
  retryOperation: { method: 'POST', path: '/api/v1/operations/{id}/retry', takesKey: true },
  revokeContextPassport: { method: 'DELETE', path: '/api/v1/context-passports/{id}' },
  revokeSandboxReference: { method: 'DELETE', path: '/api/v1/sandboxes/references/{id}' },
  revokeToken: { method: 'DELETE', path: '/api/v1/tokens/{id}' },
  rotateToken: { method: 'POST', path: '/api/v1/tokens/{id}/rotate', takesKey: true },
  rotateWebhookSecret: { method: 'POST', path: '/api/v1/webhooks/{id}/rotate-secret', takesKey: true },
  sendWebhookEvent: { method: 'POST', path: '/api/v1/webhooks/{id}/deliveries', takesKey: true },
  setConsoleAccess: { method: 'PUT', path: '/api/v1/console/access' },
  setContinualOptimizationPolicy: { method: 'PUT', path: '/api/v1/deployments/{name}/continual-optimization/policy', query: ['validate_only'], takesIfMatch: true },
  setRoute: { method: 'PUT', path: '/api/v1/deployments/{name}/route', query: ['validate_only'], takesIfMatch: true },
  skipWebhookDelivery: { method: 'POST', path: '/api/v1/webhooks/{id}/deliveries/{event_id}/skip', takesKey: true },
  testWebhook: { method: 'POST', path: '/api/v1/webhooks/{id}/test', takesKey: true },
  updateDeployment: { method: 'PATCH', path: '/api/v1/deployments/{name}', query: ['validate_only'], takesIfMatch: true },
  updateModelApiProduct: { method: 'PATCH', path: '/api/v1/admin/model-api/products/{id}', takesIfMatch: true },
  updateSandbox: { method: 'PATCH', path: '/api/v1/sandboxes/{id}', takesIfMatch: true },
  updateTenant: { method: 'PATCH', path: '/api/v1/tenants/{id}' },
  updateWebhook: { method: 'PATCH', path: '/api/v1/webhooks/{id}', takesIfMatch: true },
  whoAmI: { method: 'GET', path: '/api/v1/whoami' },
  withdrawModelApiPublication: { method: 'POST', path: '/api/v1/admin/model-api/publications/{id}/withdraw', takesKey: true },
};

/** What a call can be refused with. */
export type ErrorCode =
  | 'approver_not_a_person'
  | 'audience_not_yours'
  | 'binding_exists'
  | 'binding_not_qualified'
  | 'body_too_large'
  | 'capacity_exhausted'
  | 'catalog_entry_not_found'
  | 'condition_not_supported'
  | 'console_access_active'
  | 'console_access_not_found'
  | 'console_access_revoked'
  | 'context_passport_active'
  | 'context_passport_not_found'
  | 'csrf_refused'
  | 'cursor_expired'
  | 'deployment_exists'
  | 'deployment_not_found'
  | 'deployment_protected'
  | 'digest_mismatch'
  | 'expectation_failed'
  | 'file_exists'
  | 'file_too_large'
  | 'headers_too_large'
  | 'host_refused'
  | 'hosted_identity_required'
  | 'idempotency_in_progress'
  | 'idempotency_key_invalid'
  | 'idempotency_key_reused'
  | 'instance_not_found'
  | 'internal'
  | 'invalid_json'
  | 'invalid_parameter'
  | 'last_admin'
  | 'logs_not_kept'
  | 'logs_unavailable'
  | 'method_not_allowed'
  | 'no_previous_revision'
  | 'not_acceptable'
  | 'not_found'
  | 'nothing_to_restart'
  | 'operation_in_progress'
  | 'operation_not_cancellable'
  | 'operation_not_found'
  | 'operation_not_pausable'
  | 'operation_not_paused'
  | 'operation_not_promotable'
  | 'operation_not_retryable'
  | 'organization_not_granted'
  | 'origin_refused'
  | 'path_invalid'
  | 'plan_already_decided'
  | 'plan_digest_mismatch'
  | 'plan_expired'
  | 'plan_not_approved'
  | 'plan_not_found'
  | 'plan_required'
  | 'plan_stale'
  | 'policy_not_found'
  | 'policy_version_not_found'
  | 'precondition_failed'
  | 'product_exists'
  | 'product_in_use'
  | 'product_not_found'
  | 'promotion_refused'
  | 'publication_not_found'
  | 'publication_superseded'
  | 'quota_exceeded'
  | 'rate_limited'
  | 'request_timeout'
  | 'restart_not_supported'
  | 'revision_already_active'
  | 'revision_not_found'
  | 'revision_not_ready'
  | 'revision_not_restorable'
  | 'route_not_found'
  | 'route_owned_by_operation'
  | 'route_weights_invalid'
  | 'sandbox_file_not_found'
  | 'sandbox_not_found'
  | 'sandbox_reference_active'
  | 'sandbox_reference_in_use'
  | 'sandbox_reference_not_found'
  | 'sandbox_reference_revoked'
  | 'scope_insufficient'
  | 'self_approval'
  | 'self_approval_forbidden'
  | 'server_already_bound'
  | 'slug_not_yours'
  | 'target_binding_in_use'
  | 'target_binding_not_found'
  | 'tenant_exists'
  | 'tenant_not_found'
  | 'token_exists'
  | 'token_expired'
  | 'token_not_found'
  | 'token_not_rotatable'
  | 'unauthenticated'
  | 'unavailable'
  | 'unsupported_media_type'
  | 'upstream_error'
  | 'validation_failed'
  | 'webhook_delivery_ended'
  | 'webhook_delivery_not_found'
  | 'webhook_disabled'
  | 'webhook_event_expired'
  | 'webhook_event_not_found'
  | 'webhook_not_found'
  | 'workspace_full';

/** What an operation can fail with. */
export type FailureCode =
  | 'analysis_failed'
  | 'analysis_inconclusive'
  | 'analysis_not_comparable'
  | 'attempts_exhausted'
  | 'cancelled_by_user'
  | 'capacity_exhausted'
  | 'dependency_outage'
  | 'health_regression'
  | 'internal'
  | 'metrics_unavailable'
  | 'quota_exceeded'
  | 'superseded'
  | 'target_not_ready'
  | 'validation_failed';
