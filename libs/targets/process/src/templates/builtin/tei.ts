import type { BuiltInEngine } from './built-in-engine.js';

/** Text Embeddings Inference. It has no /v1/models. */
export const tei: BuiltInEngine = {
  template: 'tei@1',
  path: ['/opt/tei/bin'],
  command: [
    ...['text-embeddings-router', '--model-id={model.uri}', ['--revision={model.revision}']],
    ...['--served-model-name={model.id}', '--hostname=127.0.0.1', '--port={port}', '--prometheus-port={port.metrics}'],
    ...['--uds-path={instance.dir}/backend', '--json-output'],
  ],
  ports: ['metrics'],
  env: { API_KEY: '{instance_key}' },
  gpus: { min: 0, max: 1, share: 'fraction' },
  ready: { path: '/health', timeout_seconds: 600, while_starting: 'refused', log: 'Ready' },
  // A model serves either embeddings or another kind of request.
  serves: ['embeddings'],
  unknown_model: 'ignores',
  identity: ['response_model', { path: '/info', field: 'model_id', equals: '{model.uri}' }],
  model_sources: ['{home}/models/**'],
  metrics: { path: '/metrics', waiting: 'te_queue_size' },
  args: {
    max_batch_tokens: {
      arg: '--max-batch-tokens={}',
      type: 'integer',
      min: 64,
      max: 1_048_576,
      default: 16_384,
      tune: [8_192, 16_384, 32_768],
      reason: 'throughput versus memory',
    },
    max_concurrent_requests: {
      arg: '--max-concurrent-requests={}',
      type: 'integer',
      min: 1,
      max: 65_536,
      default: 512,
      reason: 'requests above this limit are rejected with 429',
    },
    max_client_batch_size: {
      arg: '--max-client-batch-size={}',
      type: 'integer',
      min: 1,
      max: 4_096,
      default: 32,
      reason: 'number of texts in one request',
    },
  },
};
