import type { ItemOf } from '@slipway/sdk';

// The items of the API's lists, each under the name that screens use.
export type AccessMapping = ItemOf<'listConsoleAccess'>;
export type AuditRow = ItemOf<'listAudit'>;
export type Binding = ItemOf<'listTargetBindings'>;
export type CatalogEntry = ItemOf<'listModelApiCatalog'>;
export type Delivery = ItemOf<'listWebhookDeliveries'>;
export type Deployment = ItemOf<'listDeployments'>;
export type Instance = ItemOf<'listInstances'>;
export type Plan = ItemOf<'listAutopilotPlans'>;
export type Product = ItemOf<'listModelApiProducts'>;
export type Publication = ItemOf<'listModelApiPublications'>;
export type Revision = ItemOf<'listRevisions'>;
export type Sandbox = ItemOf<'listSandboxes'>;
export type SandboxFile = ItemOf<'listSandboxFiles'>;
export type SandboxReference = ItemOf<'listSandboxReferences'>;
export type Target = ItemOf<'listTargets'>;
export type Tenant = ItemOf<'listTenants'>;
export type Token = ItemOf<'listTokens'>;
export type Webhook = ItemOf<'listWebhooks'>;
