import { createRequire } from 'node:module';
import { Inject, Injectable } from '@nestjs/common';
import { gatewayStatuses, PASSPORT_RETENTION_SECONDS } from '@slipway/dataplane';
import { CONFIG, type Config, retentionOf } from '@slipway/platform-config';
import { Database, newId } from '@slipway/platform-database';
import { KEY_RETENTION_DAYS } from '@slipway/platform-durable/mutations';
import { backlogOf } from '@slipway/platform-durable/operations';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import type { Principal } from '@slipway/platform-http';
import type { SystemDto, SystemGatewayDto, SystemSchemaDto, SystemWorkerDto } from './system.dto.js';
import { RECORD_WORKER_BEAT, FORGET_SILENT_WORKERS, FIND_SYSTEM_STATUS } from './system.query.js';

const DAY_SECONDS = 86_400;
const STARTED_AT = new Date(performance.timeOrigin).toISOString();
/** Version of the product, from the workspace's manifest, which a release writes and every image has. */
export const PRODUCT_VERSION = (createRequire(import.meta.url)('../../../../package.json') as { version: string })
  .version;

interface SystemStatusRow {
  postgresVersion: string;
  postgresStartedAt: Date;
  schema: SystemSchemaDto;
  workers: SystemWorkerDto[];
}

/** The status of the service itself. Only the operator sees its parts; other tenants see what concerns them. */
@Injectable()
export class SystemStatusService {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'queue' | 'operator' | 'gateway'>,
    private readonly database: Database,
  ) {}

  async get({ isOperatorTenant }: Principal): Promise<SystemDto> {
    const { events_days, operations_days, statistics_days, tokens_days, usage_days } = retentionOf(
      this.config.operator,
    );
    const known = {
      version: PRODUCT_VERSION,
      node_version: process.versions.node,
      started_at: STARTED_AT,
      gateway_url: this.config.gateway.publicUrl,
      retention_days: {
        events: events_days,
        operations: operations_days,
        idempotency_keys: KEY_RETENTION_DAYS,
        tokens: tokens_days,
        request_statistics: statistics_days,
        request_usage: usage_days,
        context_passports: PASSPORT_RETENTION_SECONDS / DAY_SECONDS,
      },
    };
    if (!isOperatorTenant)
      return { ...known, schema: null, database: null, queue: null, workers: null, gateways: null };
    return { ...known, ...(await this.parts()) };
  }

  private async parts(): Promise<Pick<SystemDto, 'schema' | 'database' | 'queue' | 'workers' | 'gateways'>> {
    const began = performance.now();
    const [status, backlog, gateways] = await this.database.tx('system', (tx) =>
      Promise.all([tx.one<SystemStatusRow>(FIND_SYSTEM_STATUS), backlogOf(tx), gatewayStatuses(tx)]),
    );
    const { schema, workers, ...postgres } = status as SystemStatusRow;
    return {
      schema,
      database: {
        version: postgres.postgresVersion,
        started_at: postgres.postgresStartedAt.toISOString(),
        latency_ms: Math.round((performance.now() - began) * 10) / 10,
      },
      queue: { backend: this.config.queue.backend, ...backlog },
      workers,
      gateways: gateways.map(({ gateway_id, started_at, seen_at, stats_until, ...rest }): SystemGatewayDto => ({
        id: gateway_id,
        started_at: started_at.toISOString(),
        seen_at: seen_at.toISOString(),
        ...rest,
        statistics_until: stats_until?.toISOString() ?? null,
      })),
    };
  }
}

/** Each worker records a heartbeat, by the same schedule that does its recurring work. */
@Injectable()
export class WorkerBeats {
  readonly workerId = newId('wrk');

  @Recurring({ name: 'worker-beats', everySeconds: 5 })
  async run(transact: Transact): Promise<void> {
    await transact('system', async (tx) => {
      await tx.query(RECORD_WORKER_BEAT, [this.workerId, PRODUCT_VERSION]);
      await tx.query(FORGET_SILENT_WORKERS);
    });
  }
}
