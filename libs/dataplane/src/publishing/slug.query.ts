import { DATAPLANE_CHANNEL, type MediaUrls } from '@slipway/contracts';
import type { Audience, PublishedBinding } from './published.js';
import type { NamedSql, QueryClient } from '../sql.js';

export interface SlugPublication {
  /** `vendor/model`; one publication per slug in the whole installation. */
  slug: string;
  /** The publishing tenant. */
  tenantId: string;
  productId: string;
  bindings: readonly PublishedBinding[];
  audience: Audience;
  /** Which URLs of media its requests may name. Absent: `data:` only. */
  mediaUrls?: MediaUrls;
}

/** Does not replace a slug of another tenant: the condition skips that row, and the caller gets false. */
const WRITE_SLUG: NamedSql = {
  name: 'dataplane_write_slug',
  text: `
    with written as (
      insert into dataplane_published (slug, tenant_id, product_id, bindings, audience, media_urls)
      values ($1, $2, $3, $4, $5, $6)
      on conflict (slug) do update set
        product_id = excluded.product_id, bindings = excluded.bindings, audience = excluded.audience,
        media_urls = excluded.media_urls, version = dataplane_published.version + 1, updated_at = now()
      where dataplane_published.tenant_id = excluded.tenant_id
      returning slug)
    select pg_notify('${DATAPLANE_CHANNEL}', 'slug:' || slug) from written`,
};

const DELETE_SLUG: NamedSql = {
  name: 'dataplane_delete_slug',
  text: `
    with deleted as (delete from dataplane_published where slug = $1 returning slug)
    select pg_notify('${DATAPLANE_CHANNEL}', 'slug:' || slug) from deleted`,
};

/** Like `ANNOUNCE_BACKENDS`. */
export const ANNOUNCE_SLUGS: NamedSql = {
  name: 'dataplane_announce_slugs',
  text: `
    with written as (
      update dataplane_published set version = version + 1, updated_at = clock_timestamp() where slug = any($1) returning slug)
    select pg_notify('${DATAPLANE_CHANNEL}', 'slug:' || slug) from written`,
};

/**
 * Publishes a product's slug in the transaction of its publication: gateways swap the whole list of bindings at once.
 * @returns false if the slug belongs to another tenant; nothing was written then
 */
export async function publishSlug(tx: QueryClient, publication: SlugPublication): Promise<boolean> {
  const written = await tx.query(WRITE_SLUG, [
    publication.slug,
    publication.tenantId,
    publication.productId,
    JSON.stringify(publication.bindings),
    JSON.stringify(publication.audience),
    publication.mediaUrls ? JSON.stringify(publication.mediaUrls) : null,
  ]);
  return written.length > 0;
}

/** Removes a slug from the gateways. Does nothing if it was not published. */
export async function withdrawSlug(tx: QueryClient, slug: string): Promise<void> {
  await tx.query(DELETE_SLUG, [slug]);
}
