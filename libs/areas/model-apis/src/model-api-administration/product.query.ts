import { prepared, withinBytes } from '@slipway/platform-database';

/**
 * Returns no row if any tenant has the slug: a slug is unique in the whole installation, also between concurrent
 * requests.
 */
export const INSERT_PRODUCT = prepared(
  'model-apis-product-insert',
  `insert into model_api_products (id, tenant_id, slug, display_name, description, modalities, context_length, max_output_tokens, supported_parameters, pricing)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (slug) do nothing returning id`,
);

/** First lock of every change of a product's publications: versions are counted under it. */
export const LOCK_PRODUCT = prepared(
  'model-apis-product-lock',
  `select id, slug from model_api_products where tenant_id = $1 and id = $2 for update`,
);

const VISIBLE = `
  select p.id, p.slug, p.display_name "displayName", p.description, p.context_length "contextLength", p.max_output_tokens "maxOutputTokens",
    p.supported_parameters "supportedParameters", p.pricing, p.created_at "createdAt",
    coalesce(u.shares_prefix_cache, u.audience->>'visibility' = 'shared' or (u.audience->'tenants') - u.tenant_id <> '[]') "sharesPrefixCache",
    (select jsonb_agg(jsonb_build_object('id', b.id, 'weight', one.weight, 'priority', one.priority, 'revisionId', b.revision_id) order by one.priority, b.id)
     from jsonb_to_recordset(u.bindings) as one(binding_id text, weight int, priority int) join model_api_target_bindings b on b.id = one.binding_id) as bindings
  from model_api_products p join model_api_publications u on u.product_id = p.id and u.state = 'published'
  where (u.audience->>'visibility' = 'shared' or u.tenant_id = $1 or u.audience->'tenants' ? $1)`;

/*
 * Three tables in one read, as the system, because a catalog crosses tenants. So the audience is part of each statement
 * and never left to its caller. Neither selects a column that shows which server or supplier a binding uses.
 */
export const FIND_VISIBLE_PRODUCT = prepared('model-apis-product-visible', `${VISIBLE} and (p.id = $2 or p.slug = $2)`);

/** As above, by slug in the order of its bytes, which is that of the cursor. */
export const LIST_VISIBLE_PRODUCTS = prepared(
  'model-apis-products-visible',
  `select * from ${withinBytes(
    'page',
    `${VISIBLE} and ($2::text is null or p.slug collate "C" > $2) order by p.slug collate "C"`,
    '$3',
    { description: 'text', supportedParameters: 'jsonb', pricing: 'jsonb', bindings: 'jsonb' },
  )} order by page_row`,
);
