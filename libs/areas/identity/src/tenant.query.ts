import { prepared } from '@slipway/platform-database';

const RECORD = `id, name, slipway_rfc3339(created_at) as created_at`;

/** No row if the name is taken: a raised conflict would abort the transaction. */
export const INSERT_TENANT = prepared(
  'tenant-insert',
  `insert into tenants (id, name) values ($1, $2) on conflict (name) do nothing returning ${RECORD}`,
);

export const LIST_TENANTS = prepared(
  'tenant-list',
  `select ${RECORD} from tenants where $1::text is null or id > $1 order by id limit $2`,
);

export interface TenantRow {
  id: string;
  name: string;
  created_at: string;
}
