import { prepared } from '@slipway/platform-database';

/** ON CONFLICT: no row if the name is taken. A raised conflict would abort the transaction. */
export const INSERT_TENANT = prepared(
  'tenant-insert',
  `insert into tenants (id, name) values ($1, $2) on conflict (name) do nothing
   returning id, name, slipway_rfc3339(created_at) as created_at`,
);
