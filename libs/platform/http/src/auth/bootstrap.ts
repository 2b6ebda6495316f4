import { hashSecret, OPERATOR_TENANT, parseToken } from '@slipway/contracts';
import type { Config } from '@slipway/platform-config';
import { newId, prepared, type Database, type Tx } from '@slipway/platform-database';

/** `created_by` of the bootstrap token. It distinguishes this token from all others. */
export const CREATED_BY_CONFIGURATION = 'system:configuration';

/** Two processes may boot at once: the one whose insert loses reads the winner's row. */
const ENSURE_TENANT = prepared(
  'auth-bootstrap-tenant',
  `insert into tenants (id, name, is_operator) values ($1, $2, true) on conflict do nothing`,
);
const OPERATOR = prepared('auth-bootstrap-operator', `select id from tenants where is_operator`);

/**
 * Configuration owns this token: it never expires, and a new secret under the same id replaces the old one. A
 * revocation through the API is the only change that survives a restart. Its owner is the person who operates the
 * product.
 */
const ENSURE_TOKEN = prepared(
  'auth-bootstrap-token',
  `insert into api_tokens (id, tenant_id, name, scopes, secret_sha256, created_by, owner_type, owner_id, minters, expires_at)
   values ($1, $2, 'bootstrap', '{admin}', $3, '${CREATED_BY_CONFIGURATION}', 'person', 'operator', '[]', '9999-12-31T23:59:59Z')
   on conflict (id) do update set secret_sha256 = excluded.secret_sha256
   where api_tokens.tenant_id = excluded.tenant_id and api_tokens.secret_sha256 <> excluded.secret_sha256`,
);

/**
 * Creates the operator tenant, and its bootstrap token if configuration has one, unless they exist. The api calls it at
 * boot.
 */
export async function ensureBootstrap(database: Database, config: Pick<Config, 'bootstrapToken'>): Promise<void> {
  await database.tx('system', (tx) => ensure(tx, config.bootstrapToken));
}

async function ensure(tx: Tx, token: string | undefined): Promise<void> {
  await tx.query(ENSURE_TENANT, [newId('ten'), OPERATOR_TENANT]);
  const operator = await tx.one<{ id: string }>(OPERATOR);
  if (!operator) throw new Error(`a tenant that is not the operator has the name ${OPERATOR_TENANT}`);
  if (token === undefined) return;
  const parts = parseToken(token);
  if (!parts) throw new Error('the bootstrap token is not of the form slw_<id>_<secret>');
  await tx.query(ENSURE_TOKEN, [parts.id, operator.id, hashSecret(parts.secret)]);
}
