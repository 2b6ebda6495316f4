import type { OperatorFileState } from './operator-settings.js';

interface MetricRow {
  name: string;
  help: string;
  labels: Record<string, string>;
  value: number;
}

/** The metrics of the operator's file that every process reports, so that replicas can be compared. All are gauges. */
export function operatorMetrics({ digest, loadedAt, problems }: OperatorFileState): MetricRow[] {
  return [
    {
      name: 'slipway_config_last_reload_successful',
      help: "1 if the operator's current file is in effect; 0 if it is invalid or missing, and the previous settings stay in effect.",
      labels: {},
      value: problems.length === 0 ? 1 : 0,
    },
    {
      name: 'slipway_config_loaded_timestamp_seconds',
      help: 'Unix time at which this process loaded the settings in effect.',
      labels: {},
      value: loadedAt.getTime() / 1_000,
    },
    {
      name: 'slipway_config_info',
      help: "SHA-256 of the operator's file in effect, in hex; empty if only the built-in settings are in effect.",
      labels: { digest: digest ?? '' },
      value: 1,
    },
  ];
}
