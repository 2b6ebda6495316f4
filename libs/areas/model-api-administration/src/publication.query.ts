import { prepared } from '@slipway/platform-database';

const COLUMNS = `u.id, u.product_id, p.slug, u.version, u.state, u.bindings, u.audience, u.notes,
  slipway_rfc3339(u.created_at) as created_at, slipway_rfc3339(u.ended_at) as ended_at`;

/** Every writer holds the product's lock, so the next version is nobody else's. */
export const INSERT_PUBLICATION = prepared(
  'model-api-publication-insert',
  `with u as (
     insert into model_api_publications (id, tenant_id, product_id, version, bindings, audience, notes, created_by)
     select $1, $2, $3, coalesce(max(version), 0) + 1, $4, $5, $6, $7 from model_api_publications where product_id = $3
     returning *)
   select ${COLUMNS} from u join model_api_products p on p.id = u.product_id`,
);

/** At most one row: the publication that stands. */
export const END_CURRENT = prepared(
  'model-api-publication-end',
  `update model_api_publications set state = $2, ended_at = now() where product_id = $1 and state = 'published' returning id, bindings`,
);

export const LIST_PUBLICATIONS = prepared(
  'model-api-publication-list',
  `select ${COLUMNS} from model_api_publications u join model_api_products p on p.id = u.product_id
   where u.tenant_id = $1 and ($2::text is null or u.id < $2) order by u.id desc limit $3`,
);

export const FIND_PUBLICATION = prepared(
  'model-api-publication-find',
  `select ${COLUMNS} from model_api_publications u join model_api_products p on p.id = u.product_id where u.tenant_id = $1 and u.id = $2`,
);
