import { prepared } from '@slipway/platform-database';

const COLUMNS = `p.id, p.slug, p.display_name, p.description, p.modalities, p.context_length, p.max_output_tokens, p.supported_parameters, p.pricing, p.state,
  slipway_rfc3339(p.created_at) as created_at, slipway_rfc3339(p.updated_at) as updated_at`;

/** No row when the slug is taken, by whichever tenant: one name for the whole installation. */
export const INSERT_PRODUCT = prepared(
  'model-api-product-insert',
  `insert into model_api_products as p (id, tenant_id, slug, display_name, description, modalities, context_length, max_output_tokens, supported_parameters, pricing)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (slug) do nothing returning ${COLUMNS}`,
);

export const LIST_PRODUCTS = prepared(
  'model-api-product-list',
  `select ${COLUMNS} from model_api_products p where p.tenant_id = $1 and ($2::text is null or p.id < $2) order by p.id desc limit $3`,
);

export const FIND_PRODUCT = prepared(
  'model-api-product-find',
  `select ${COLUMNS} from model_api_products p where p.tenant_id = $1 and p.id = $2`,
);

/** First lock of every change of what a product publishes: versions are counted under it. */
export const LOCK_PRODUCT = prepared(
  'model-api-product-lock',
  `select ${COLUMNS} from model_api_products p where p.tenant_id = $1 and p.id = $2 for update`,
);

export const SET_PRODUCT_STATE = prepared(
  'model-api-product-state',
  `update model_api_products set state = $3, updated_at = now() where tenant_id = $1 and id = $2 and state <> $3`,
);

const VISIBLE = `
  select p.id, p.slug, p.display_name "displayName", p.description, p.context_length "contextLength", p.max_output_tokens "maxOutputTokens",
    p.supported_parameters "supportedParameters", p.pricing, p.created_at "createdAt",
    (select jsonb_agg(jsonb_build_object('id', b.id, 'weight', one.weight, 'priority', one.priority, 'revisionId', b.revision_id) order by one.priority, b.id)
     from jsonb_to_recordset(u.bindings) as one(binding_id text, weight int, priority int) join model_api_target_bindings b on b.id = one.binding_id) as bindings
  from model_api_products p join model_api_publications u on u.product_id = p.id and u.state = 'published'
  where (u.audience->>'visibility' = 'shared' or u.tenant_id = $1 or u.audience->'tenants' ? $1)`;

/*
 * Read as the system, because a catalog crosses tenants; so the audience is part of each statement, and never left to its
 * caller. Neither names a column that tells who answers behind a binding.
 */
export const FIND_VISIBLE = prepared('model-api-product-visible', `${VISIBLE} and (p.id = $2 or p.slug = $2)`);
export const LIST_VISIBLE = prepared(
  'model-api-products-visible',
  `${VISIBLE} and ($2::text is null or p.slug collate "C" > $2) order by p.slug collate "C" limit $3`,
);
