import { DATAPLANE_CHANNEL } from '@slipway/contracts';
import type { NamedSql } from '../sql.js';

/*
 * As a publication of what the rows say already: their stamp moves, and gateways read them again. The clock's time, because a row may have
 * been published in this transaction before.
 */

export const ANNOUNCE_BACKENDS: NamedSql = {
  name: 'dataplane_announce_backends',
  text: `
    with written as (
      update dataplane_backends set version = version + 1, updated_at = clock_timestamp() where revision_id = any($1) returning revision_id)
    select pg_notify('${DATAPLANE_CHANNEL}', 'backend:' || revision_id) from written`,
};

export const ANNOUNCE_SLUGS: NamedSql = {
  name: 'dataplane_announce_slugs',
  text: `
    with written as (
      update dataplane_published set version = version + 1, updated_at = clock_timestamp() where slug = any($1) returning slug)
    select pg_notify('${DATAPLANE_CHANNEL}', 'slug:' || slug) from written`,
};
