import type { BuiltInEngine } from './built-in-engine.js';

/**
 * Text Generation Inference. The defaults of its second and third port and of its socket allow only one instance per
 * host.
 */
export const tgi: BuiltInEngine = {
  template: 'tgi@1',
  path: ['/opt/tgi/bin'],
  command: [
    ...['text-generation-launcher', '--model-id={model.uri}', ['--revision={model.revision}'], '--hostname=127.0.0.1'],
    ...['--port={port}', '--prometheus-port={port.metrics}', '--master-port={port.master}'],
    ...['--shard-uds-path={instance.dir}/shard', '--num-shard={gpu.count}'],
    ...['--graceful-termination-timeout=50', '--json-output'],
  ],
  ports: ['metrics', 'master'],
  env: { API_KEY: '{instance_key}' },
  gpus: { min: 1, max: 8, share: 'exclusive' },
  ready: { path: '/health', timeout_seconds: 1_800, while_starting: 'refused', log: 'Connected' },
  serves: ['chat'],
  unknown_model: 'ignores',
  identity: [{ path: '/info', field: 'model_id', equals: '{model.uri}' }],
  model_sources: ['{home}/models/**'],
  metrics: { path: '/metrics', running: 'tgi_batch_current_size', waiting: 'tgi_queue_size' },
  context: { arg: 'max_total_tokens' },
  args: {
    max_concurrent_requests: {
      arg: '--max-concurrent-requests={}',
      type: 'integer',
      min: 1,
      max: 4_096,
      default: 128,
      reason: 'requests above this limit are rejected with 429',
    },
    max_total_tokens: { arg: '--max-total-tokens={}', type: 'integer', min: 16, max: 1_048_576 },
    max_batch_prefill_tokens: {
      arg: '--max-batch-prefill-tokens={}',
      type: 'integer',
      min: 16,
      max: 1_048_576,
      tune: [2_048, 4_096, 8_192],
      reason: 'time to first token versus time between tokens',
    },
    waiting_served_ratio: { arg: '--waiting-served-ratio={}', type: 'number', min: 0, max: 5 },
  },
};
