import type { OperatorFileState } from './operator-settings.js';

interface MetricRow {
  name: string;
  help: string;
  labels: Record<string, string>;
  value: number;
}

/** What every process tells of the operator's file, for whoever compares replicas; all gauges. */
export function operatorMetrics({ digest, loadedAt, problems }: OperatorFileState): MetricRow[] {
  return [
    {
      name: 'slipway_config_last_reload_successful',
      help: "Whether the operator's file as it is now holds; 0 = it is faulty or gone, and what it said before goes on.",
      labels: {},
      value: problems.length === 0 ? 1 : 0,
    },
    {
      name: 'slipway_config_loaded_timestamp_seconds',
      help: 'When this process took the settings that hold.',
      labels: {},
      value: loadedAt.getTime() / 1_000,
    },
    {
      name: 'slipway_config_info',
      help: "SHA-256 of the operator's file that holds, in hex; empty where only what is built in holds.",
      labels: { digest: digest ?? '' },
      value: 1,
    },
  ];
}
