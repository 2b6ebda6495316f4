import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, retentionOf, type Config } from '@slipway/platform-config';
import { prepared } from '@slipway/platform-database';
import { tokenStartedOperation } from '@slipway/platform-durable/operations';
import { inBatches, Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { CREATED_BY_CONFIGURATION } from '@slipway/platform-http/auth';

/**
 * The bootstrap token stays: configuration would create it again, and a revocation must survive that. A token stays as
 * long as a stored operation that it started, because approvals of the operation's steps compare owners, also after a
 * retry.
 */
const DELETE_ENDED_TOKENS = prepared(
  'identity-tokens-retention',
  `with gone as (
     delete from api_tokens where id = any(array(
       select k.id from api_tokens k
       where least(k.expires_at, k.revoked_at) < now() - make_interval(days => $1) and k.created_by <> '${CREATED_BY_CONFIGURATION}'
         and not ${tokenStartedOperation('k.tenant_id', 'k.id')}
       order by least(k.expires_at, k.revoked_at) limit $2 for update skip locked))
     returning 1
   )
   select count(*)::int as count from gone`,
);

/** Deletes tokens some time after their revocation or expiry. The audit log keeps their ids. */
@Injectable()
export class TokenRetention {
  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'operator'>) {}

  @Recurring({ name: 'token-retention', everySeconds: 3_600 })
  async run(transact: Transact, stopping?: AbortSignal): Promise<void> {
    await inBatches(async (rows) => {
      const { tokens_days } = retentionOf(this.config.operator);
      const gone = await transact('system', (tx) =>
        tx.one<{ count: number }>(DELETE_ENDED_TOKENS, [tokens_days, rows]),
      );
      return gone?.count === rows;
    }, stopping);
  }
}
