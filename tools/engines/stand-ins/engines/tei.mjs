import { PYTHON_FAILURES } from './answers.mjs';

/** From the documentation and the source of the engine. [U]: not verified, so the stand-in assumes the worst case. */
export const engine = {
  program: 'text-embeddings-router',
  syntax: {
    style: 'clap',
    values: [
      '--model-id',
      '--revision',
      '--served-model-name',
      '--dtype',
      '--pooling',
      '--hostname',
      '--port',
      '--prometheus-port',
      '--uds-path',
      '--max-concurrent-requests',
      '--max-batch-tokens',
      '--max-batch-requests',
      '--max-client-batch-size',
      '--payload-limit',
    ],
    switches: ['--json-output', '--auto-truncate'],
  },
  host: '--hostname',
  names: (args) => [args['--served-model-name'] ?? args['--model-id']],
  serves: ['embeddings'], // Or rerank, depending on the model.
  // Binds the port after the warm-up.
  loading: 'refused',
  ready: 'INFO text_embeddings_router::http::server: Ready',
  health: { '/health': '' },
  unknown: 'ignores',
  errors: 'text',
  key: { env: 'API_KEY', guards: /^\/(?!health$|metrics$)/ },
  info: { '/info': ({ args }) => ({ model_id: args['--model-id'], model_sha: null, max_client_batch_size: 32 }) },
  metrics: { '/metrics': () => 'te_queue_size 0\nte_request_count 0' },
  drainSeconds: () => Infinity,
  children: [{ name: 'python-text-embeddings-server', ownGroup: true }],
  failures: {
    gpu_memory: { lines: ['Error: Model backend is not healthy', 'Caused by: CUDA out of memory'], code: 1 },
    port_in_use: { lines: ['Error: Address already in use (os error 98)'], code: 1 },
    model_access: PYTHON_FAILURES.model_access,
  },
  crashCode: 1,
};
