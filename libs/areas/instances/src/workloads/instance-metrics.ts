import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database, prepared } from '@slipway/platform-database';
import { readGauges } from '@slipway/platform-observability';
import type { LifecycleState } from './instance.entity.js';

interface StateRow {
  target: string;
  state: LifecycleState;
  count: number;
  longest: number;
}

/** By hand, because it groups the instances of all tenants. Stopped ones are kept as history and would hide the others. */
const READ_INSTANCE_METRICS = prepared(
  'instances-metrics',
  `select target, state, count(*)::int as count, extract(epoch from clock_timestamp() - min(state_since))::float8 as longest
   from instances where state <> 'stopped' group by target, state`,
);

/** Metrics of the instances of all tenants, by target and state. */
@Injectable()
export class InstanceMetrics implements OnModuleInit {
  constructor(private readonly database: Database) {}

  onModuleInit(): void {
    readGauges(
      'instances',
      {
        slipway_instances: ['Instances by target and state', 'target', 'state'],
        slipway_instances_longest_in_state_seconds: [
          'How long the instance that has been in the state longest has been in it',
          'target',
          'state',
        ],
      },
      async () => {
        const rows = await this.database.read<StateRow>('system', READ_INSTANCE_METRICS);
        const by = (value: (row: StateRow) => number) =>
          rows.map((row) => ({ labels: { target: row.target, state: row.state }, value: value(row) }));
        return {
          slipway_instances: by(({ count }) => count),
          slipway_instances_longest_in_state_seconds: by(({ longest }) => Math.max(0, longest)),
        };
      },
    );
  }
}
