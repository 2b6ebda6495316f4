import type { BuiltInEngine } from './built-in-engine.js';

/** LMDeploy. It accepts its key only as an argument, which other users of the host can see. */
export const lmdeploy: BuiltInEngine = {
  template: 'lmdeploy@1',
  path: ['/opt/lmdeploy/bin', '/usr/local/cuda/bin'],
  command: [
    ...['lmdeploy', 'serve', 'api_server', '{model.uri}', '--server-name=127.0.0.1', '--server-port={port}'],
    ...['--model-name={model.id}', '--tp={gpu.count}', '--api-keys={instance_key}'],
  ],
  gpus: { min: 1, max: 8, share: 'exclusive' },
  ready: { path: '/health', timeout_seconds: 1_800, while_starting: 'either' },
  // It is unknown whether it finishes requests in progress.
  stop: { signal: 'SIGTERM', to: 'leader', grace_seconds: 60, drain: 'gateway' },
  serves: ['chat', 'completions', 'responses'],
  unknown_model: 'rejects',
  identity: ['models_list'],
  model_sources: ['{home}/models/**'],
  metrics: {
    path: '/metrics',
    running: 'lmdeploy:num_requests_running',
    waiting: 'lmdeploy:num_requests_waiting',
    kv_usage: 'lmdeploy:gpu_cache_usage_perc',
  },
  context: { arg: 'session_len' },
  args: {
    max_batch_size: {
      arg: '--max-batch-size={}',
      type: 'integer',
      min: 1,
      max: 4_096,
      tune: [64, 128, 256],
      reason: 'throughput versus time between tokens',
    },
    cache_max_entry_count: {
      arg: '--cache-max-entry-count={}',
      type: 'number',
      min: 0.05,
      max: 0.95,
      default: 0.8,
      reason: 'share of the memory that is free after the weights are loaded',
    },
    session_len: { arg: '--session-len={}', type: 'integer', min: 256, max: 1_048_576 },
    quant_policy: { arg: '--quant-policy={}', type: 'choice', choices: [0, 4, 8], quality: true },
  },
};
