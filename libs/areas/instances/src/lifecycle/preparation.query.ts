import { WORKLOADS_CHANNEL } from '@slipway/contracts';
import { tenantNameOf } from '@slipway/platform-http/auth';
import { prepared } from '@slipway/platform-database';
import { isLiveOperation } from '@slipway/platform-durable/operations';
import type { PreparationEntity } from './preparation.entity.js';

export type OpenPreparation = Pick<
  PreparationEntity,
  'operation_id' | 'revision_id' | 'tenant_id' | 'spec' | 'attempt' | 'state'
> & { tenant_name: string };

/**
 * Requests a preparation, and begins again if an earlier attempt of the operation already requested it. Deletes the
 * preparations of operations that have ended. The notification is sent with the commit of the row.
 */
export const REQUEST_PREPARATION = prepared(
  'instances-request-preparation',
  `with over as (
     delete from preparations where operation_id <> $1 and not ${isLiveOperation('preparations.operation_id')}
   ), asked as (
     insert into preparations as p (operation_id, revision_id, tenant_id, target, spec, state) values ($1, $2, $3, $4, $5, $6)
     on conflict (operation_id, revision_id) do update set
       target = excluded.target, state = excluded.state, attempt = p.attempt + 1, progress = null, failure = null, asked_at = excluded.asked_at
     returning target
   )
   select pg_notify('${WORKLOADS_CHANNEL}', target) from asked`,
);

/** Runs in each pass of a target's reconciler. */
export const READ_OPEN_PREPARATIONS = prepared(
  'instances-read-open-preparations',
  `select p.operation_id, p.revision_id, p.tenant_id, p.spec, p.attempt, p.state, ${tenantNameOf('p.tenant_id')} as tenant_name
   from preparations p
   where p.target = $1 and p.state in ('asked', 'running') and ${isLiveOperation('p.operation_id')}
   order by p.asked_at, p.operation_id, p.revision_id`,
);
