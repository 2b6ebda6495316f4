import { prepared } from '@slipway/platform-database';

const COLUMNS = `p.deployment_id "deploymentId", p.version, p.content, p.digest, p.updated_by "updatedBy", slipway_rfc3339(p.updated_at) "updatedAt"`;

export const CURRENT = prepared(
  'policy-current',
  `select ${COLUMNS} from optimization_policies p where p.deployment_id = $1 order by p.version desc limit 1`,
);
export const VERSION = prepared(
  'policy-version',
  `select ${COLUMNS} from optimization_policies p where p.deployment_id = $1 and p.version = $2`,
);

/** The caller holds the deployment's lock, so the next version cannot be taken by another. */
export const INSERT = prepared(
  'policy-insert',
  `insert into optimization_policies as p (deployment_id, version, tenant_id, content, digest, updated_by) values ($1, $2, $3, $4, $5, $6) returning ${COLUMNS}`,
);
