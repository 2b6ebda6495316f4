import type { Slipway } from '@slipway/sdk';

/** The words before the one that is completed. */
export interface TypedWords {
  args: readonly string[];
  /** The value of a flag, by its long name. */
  flag: (name: string) => string | undefined;
}

type Call = { signal: AbortSignal; maxRetries: 0; limit: number };
type Row = Record<string, unknown>;
type ReadPage = (client: Slipway, call: Call, typed: TypedWords) => PromiseLike<{ data: readonly object[] }>;
/** The values that a row gives. */
type ValuesOf = (row: Row) => readonly unknown[];

const field =
  (name: string): ValuesOf =>
  (row) => [row[name]];
const deploymentOf = ({ args: [name], flag }: TypedWords): string => flag('--deployment') ?? name ?? '';

const revisions: ReadPage = (client, call, typed) => client.deployments.revisions.list(deploymentOf(typed), call);
const products: ReadPage = (client, call) => client.admin.modelApi.products.list(call);
const bindings: ReadPage = (client, call) => client.admin.modelApi.targetBindings.list(call);
const access: ReadPage = (client, call) => client.consoleAccess.list(call);
const audit: ReadPage = (client, call) => client.audit.list(call);

/** The list is closed, and the same for every server of this version. */
const eventTypes: ReadPage = async () => {
  const { EVENT_TYPES } = await import('@slipway/sdk');
  return { data: Object.keys(EVENT_TYPES).map((type) => ({ type })) };
};

/** The key is the name of an argument, or the source of a flag. */
export const SOURCES: Record<string, readonly [values: ValuesOf, read: ReadPage]> = {
  deployment: [field('name'), (client, call) => client.deployments.list(call)],
  operation: [field('id'), (client, call) => client.operations.list(call)],
  instance: [field('id'), (client, call, typed) => client.deployments.instances.list(deploymentOf(typed), call)],
  revision: [field('name'), revisions],
  from: [field('name'), revisions],
  to: [field('name'), revisions],
  plan: [field('id'), (client, call) => client.autopilot.plans.list(call)],
  'approved plan': [field('id'), (client, call) => client.autopilot.plans.list({ ...call, state: 'approved' })],
  product: [field('slug'), products],
  binding: [field('id'), bindings],
  supplier: [({ target }) => [(target as Row | undefined)?.['supplier']], bindings],
  publication: [field('id'), (client, call) => client.admin.modelApi.publications.list(call)],
  sandbox: [field('id'), (client, call) => client.sandboxes.list(call)],
  passport: [field('id'), (client, call) => client.contextPassports.list(call)],
  access: [field('id'), access],
  path: [field('path'), (client, call, { args: [id] }) => client.sandboxes.files.list(id ?? '', call)],
  reference: [field('id'), (client, call) => client.sandboxes.references.list(call)],
  token: [field('name'), (client, call) => client.tokens.list(call)],
  tenant: [field('name'), (client, call) => client.tenants.list(call)],
  webhook: [field('id'), (client, call) => client.webhooks.list(call)],
  user: [field('external_user_id'), access],
  organization: [field('external_organization_id'), access],
  'identity provider': [field('provider'), access],
  environment: [field('environment'), (client, call) => client.deployments.list(call)],
  label: [
    ({ labels }) => Object.entries((labels ?? {}) as Row).map(([name, value]) => `${name}=${String(value)}`),
    (client, call) => client.deployments.list(call),
  ],
  'operation kind': [field('kind'), (client, call) => client.operations.list(call)],
  'event type': [field('type'), eventTypes],
  action: [field('action'), audit],
  actor: [field('actor'), audit],
  'resource type': [field('resource_type'), audit],
  'resource name': [field('resource_name'), audit],
};
