import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { CONFIG, retentionOf, type Config } from '@slipway/platform-config';
import { Database, prepared } from '@slipway/platform-database';
import { tokenStartedOperation } from '@slipway/platform-durable/operations';
import { inBatches, Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { CREATED_BY_CONFIGURATION } from '@slipway/platform-http/auth';
import { readGauges } from '@slipway/platform-observability';

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

/**
 * Counts tokens that were used within a day, end within a week and were made for more than a month. A session of a
 * person, or a token that was rotated, ends soon without harm. By hand, because it compares times by the clock of Postgres.
 */
const COUNT_ENDING_TOKENS = prepared(
  'identity-tokens-ending',
  `select count(*)::int as count from api_tokens
   where revoked_at is null and replaced_by is null and last_used_at > now() - interval '1 day'
     and expires_at between now() and now() + interval '7 days' and expires_at > created_at + interval '30 days'`,
);

/** Shows how many tokens of all tenants need a rotation. */
@Injectable()
export class TokenMetrics implements OnModuleInit {
  constructor(private readonly database: Database) {}

  onModuleInit(): void {
    readGauges(
      'tokens',
      { slipway_tokens_ending: ['Tokens in use, made for over 30 days, that expire within 7 days'] },
      async () => {
        const [row] = await this.database.read<{ count: number }>('system', COUNT_ENDING_TOKENS);
        return { slipway_tokens_ending: row!.count };
      },
    );
  }
}
