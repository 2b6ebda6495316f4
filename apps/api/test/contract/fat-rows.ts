import { owned, type ContractRequest } from '@slipway/platform-testing/contract';
import type { TestApi } from '../harness/boot-api.js';

/** Rows that are added to a list. Together they are larger than a page. */
export const FAT_ROWS = 10;
export const FAT_BYTES = 200 * 1024;

const TEXT = `repeat('x', ${FAT_BYTES})`;
const MEMBER = `jsonb_build_object('fat', ${TEXT})`;
const ID = `base.id || '_' || n`;
const OF_DEPLOYMENT = `(select id from deployments where name = $1)`;

/** Copies the newest row of a table, with changes; `base` is that row and `n` the number of the copy. */
interface Copies {
  table: string;
  /** A condition on `base`; $1 is the first parameter of the path. */
  where?: string;
  order?: string;
  changes: Record<string, string>;
}

/** How to make the rows of a list large: copies, or a statement with $1 as above. */
type Fill = readonly (Copies | string)[];

/** By operation id: every list of the document whose rows come from the database. */
export const FILLS: Record<string, Fill> = {
  listModelApiProducts: [
    { table: 'model_api_products', changes: { id: ID, slug: 'base.slug || n', description: TEXT } },
  ],
  listModelApiPublications: [
    {
      table: 'model_api_publications',
      changes: { id: ID, version: 'base.version + n', state: `'superseded'`, notes: TEXT },
    },
  ],
  listTargetBindings: [
    {
      table: 'model_api_target_bindings',
      changes: { id: ID, target_digest: 'base.target_digest || n', target: `base.target || ${MEMBER}` },
    },
  ],
  listAudit: [
    {
      table: 'audit_log',
      changes: { id: ID, sequence: 'null', previous_hash: 'null', hash: 'null', request_id: TEXT },
    },
  ],
  listAutopilotPlans: [
    {
      table: 'autopilot_plans',
      changes: { id: ID, content: `base.content || ${MEMBER} || jsonb_build_object('id', ${ID})` },
    },
  ],
  listConsoleAccess: [
    {
      table: 'console_access',
      changes: { id: ID, external_user_id: 'base.external_user_id || n', display_name: TEXT },
    },
  ],
  listDeployments: [
    {
      table: 'deployments',
      changes: { id: ID, name: `base.name || '-copy-' || n`, description: TEXT, current_operation_id: 'null' },
    },
  ],
  listDeploymentEvents: [
    {
      table: 'events',
      where: `base.stream = 'deployment/' || ${OF_DEPLOYMENT}`,
      order: 'base.sequence',
      changes: { id: ID, sequence: 'base.sequence + n', data: `base.data || ${MEMBER}` },
    },
  ],
  listOperationEvents: [
    {
      table: 'events',
      where: 'base.operation_id = $1',
      order: 'base.sequence',
      changes: { id: ID, sequence: 'base.sequence + 1000 + n', data: `base.data || ${MEMBER}` },
    },
  ],
  listInstances: [
    {
      table: 'instances',
      where: `base.revision_id in (select id from revisions where deployment_id = ${OF_DEPLOYMENT})`,
      changes: { id: ID, ordinal: 'base.ordinal + n', message: TEXT },
    },
  ],
  listRevisions: [
    {
      table: 'revisions',
      where: `base.deployment_id = ${OF_DEPLOYMENT}`,
      changes: {
        id: ID,
        number: 'base.number + n',
        name: 'base.name || n',
        state: `'failed'`,
        spec: `base.spec || ${MEMBER}`,
      },
    },
  ],
  listModelApiCatalog: [
    {
      table: 'model_api_products',
      where: 'base.id = (select product_id from model_api_publications order by id desc limit 1)',
      changes: { id: ID, slug: 'base.slug || n', description: TEXT },
    },
    {
      table: 'model_api_publications',
      changes: { id: ID, product_id: `base.product_id || '_' || n`, state: `'published'` },
    },
  ],
  listOperations: [
    { table: 'operations', changes: { id: ID, idempotency_key: 'null', result: `base.result || ${MEMBER}` } },
  ],
  listSandboxes: [{ table: 'sandboxes', changes: { id: ID, labels: `base.labels || ${MEMBER}` } }],
  listSandboxReferences: [{ table: 'sandbox_references', changes: { id: ID, external_id: TEXT } }],
  listSandboxFiles: [
    `insert into sandbox_files (sandbox_id, path, tenant_id, blob, size_bytes, sha256, mode, sync_error)
     select id, 'copy-' || n, tenant_id, id || '/copy_' || n, 0, repeat('0', 64), '0644', ${TEXT}
     from sandboxes, generate_series(1, ${FAT_ROWS}) n where id = $1`,
  ],
  listTenants: [
    `with copies as (
       insert into tenants (id, name) select 'ten_copy' || n, 'copy-' || n from generate_series(1, ${FAT_ROWS}) n returning id)
     insert into tenant_organizations (provider, external_organization_id, tenant_id)
     select 'oidc', repeat('o', 240) || m, id
     from copies, generate_series(1, ${Math.ceil(FAT_BYTES / 240)}) m`,
  ],
  listContextPassports: [{ table: 'dataplane_passports', changes: { id: ID, subject: TEXT } }],
  listContinualOptimizationPolicyVersions: [
    {
      table: 'optimization_policies',
      where: `base.deployment_id = ${OF_DEPLOYMENT}`,
      order: 'base.version',
      changes: { version: 'base.version + n', updated_by: `base.updated_by || jsonb_build_object('name', ${TEXT})` },
    },
  ],
  listTokens: [
    {
      table: 'api_tokens',
      changes: {
        id: ID,
        minters: `base.minters || jsonb_build_array(jsonb_build_object('type', 'person', 'id', ${TEXT}))`,
      },
    },
  ],
  listWebhooks: [{ table: 'webhooks', changes: { id: ID, description: TEXT } }],
  listWebhookDeliveries: [
    `insert into webhook_deliveries (webhook_id, event_id, tenant_id, stream, sequence, event_type, status, error)
     select id, 'evt_copy' || n, tenant_id, 'deployment/dep_x', n, 'x', 'failed', ${TEXT}
     from webhooks, generate_series(1, ${FAT_ROWS}) n where id = $1`,
  ],
};

/** Lists whose valid request makes no row: the operation that makes one. */
export const MAKERS: Record<string, string> = {
  listAudit: 'createDeployment',
  listConsoleAccess: 'setConsoleAccess',
  listSandboxReferences: 'createSandboxReference',
};

/** Adds the rows of a list, after its valid request was made. */
export async function fatten(api: TestApi, fill: Fill, { params }: ContractRequest): Promise<void> {
  const [first] = Object.values(params ?? {});
  for (const part of fill) {
    const text = typeof part === 'string' ? part : await copying(api, part);
    const added = await owned(api, `${text} returning 1`, text.includes('$1') ? [first] : []);
    if (added.length < FAT_ROWS) throw new Error(`there is no row to copy for ${text}`);
  }
}

async function copying(api: TestApi, { table, where = 'true', order = 'base.id', changes }: Copies): Promise<string> {
  const columns = await owned<{ name: string }>(
    api,
    `select column_name as name from information_schema.columns
     where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER' and is_identity = 'NO'`,
    [table],
  );
  const names = columns.map(({ name }) => name);
  const unknown = Object.keys(changes).filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`${table} has no column ${unknown.join(', ')}`);
  const values = names.map((name) => changes[name] ?? `base.${name}`);
  return `insert into ${table} (${names.join(', ')}) select ${values.join(', ')}
    from (select * from ${table} base where ${where} order by ${order} desc limit 1) base, generate_series(1, ${FAT_ROWS}) n`;
}
