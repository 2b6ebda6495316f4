import { Injectable, type OnModuleInit } from '@nestjs/common';
import { gatewayStatuses } from '@slipway/dataplane';
import { Database } from '@slipway/platform-database';
import { backlogOf } from '@slipway/platform-durable/operations';
import { gauge, readGauges } from '@slipway/platform-observability';
import { FIND_STORED_METRICS } from './system.query.js';
import { SystemService } from './system.service.js';

interface StoredMetricsRow {
  workers: number;
  size: number;
  connections: number;
  connections_limit: number;
  backup_at: number | null;
}

/**
 * Metrics of the whole installation, which Postgres knows. Every api and every worker shows them, so that they are
 * known while any of these processes runs: take their maximum, not their sum.
 */
@Injectable()
export class StoredMetrics implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly system: SystemService,
  ) {}

  onModuleInit(): void {
    const up = gauge('slipway_database_up', '1 if Postgres answers this process, else 0', [], async () => {
      up.set(await this.system.answers().then(Number));
    });
    readGauges(
      'installation',
      {
        slipway_operations: ['Operations by state: due, running or asleep', 'state'],
        slipway_operations_oldest_due_seconds: ['How long the oldest due operation has waited for a worker'],
        slipway_outbox_waiting: ['Due wake-ups that are not in the queue yet'],
        slipway_outbox_oldest_seconds: ['How long the oldest due wake-up has waited for the queue'],
        slipway_workers_alive: ['Workers with a heartbeat within 15 s'],
        slipway_gateways_alive: ['Gateways with a recent report'],
        slipway_gateways_behind: ['Live gateways that do not follow the newest version of a route'],
        slipway_database_size_bytes: ['Size of the database of Slipway'],
        slipway_database_connections: ['Connections to the database of Slipway'],
        slipway_database_connections_limit: ['max_connections of Postgres'],
        slipway_backup_last_timestamp_seconds: ['Unix time of the last complete back-up; 0 if there is none'],
      },
      () => this.read(),
    );
  }

  private async read() {
    const [row, { outbox, operations }, gateways] = await this.database.tx('system', (tx) =>
      Promise.all([tx.one<StoredMetricsRow>(FIND_STORED_METRICS), backlogOf(tx), gatewayStatuses(tx)]),
    );
    const { workers, size, connections, connections_limit, backup_at } = row as StoredMetricsRow;
    const alive = gateways.filter(({ is_alive }) => is_alive);
    const { due, running, asleep } = operations;
    return {
      slipway_operations: Object.entries({ due, running, asleep }).map(([state, value]) => ({
        labels: { state },
        value,
      })),
      slipway_operations_oldest_due_seconds: operations.oldest_due_seconds ?? 0,
      slipway_outbox_waiting: outbox.waiting,
      slipway_outbox_oldest_seconds: outbox.oldest_seconds ?? 0,
      slipway_workers_alive: workers,
      slipway_gateways_alive: alive.length,
      slipway_gateways_behind: alive.filter(({ routes_behind }) => routes_behind > 0).length,
      slipway_database_size_bytes: size,
      slipway_database_connections: connections,
      slipway_database_connections_limit: connections_limit,
      slipway_backup_last_timestamp_seconds: backup_at ?? 0,
    };
  }
}
