import { list, OPEN_AI } from './answers.mjs';

/** From the documentation and the source of the engine. [U]: not verified, so the stand-in assumes the worst case. */
export const engine = {
  program: 'llama-server',
  syntax: {
    // Option and value are two elements: common/arg.cpp knows no --x=y.
    style: 'separate',
    values: [
      '-m',
      '--model',
      '-hf',
      '--alias',
      '--host',
      '--port',
      '-c',
      '--ctx-size',
      '-np',
      '--parallel',
      '-b',
      '--batch-size',
      '-ub',
      '--ubatch-size',
      '-ngl',
      '--n-gpu-layers',
      '-ts',
      '-sm',
      '--fit',
      '--cache-type-k',
      '--cache-type-v',
      '-fa',
      '--cache-ram',
      '--cache-reuse',
      '--lora',
      '--sse-ping-interval',
      '--timeout',
      '--api-key',
      '--cors-origins',
      '--threads',
      '-t',
    ],
    switches: ['--embeddings', '--rerank', '--offline', '--no-ui', '--metrics', '--jinja', '--no-webui'],
  },
  names: (args) => [args['--alias'] ?? args['--model'] ?? args['-m']],
  serves: OPEN_AI,
  servesWith: { '--embeddings': 'embeddings', '--rerank': 'rerank' },
  // Applies to every route while the model loads.
  loading: '503',
  loadingAnswer: { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } },
  ready: 'main: server is listening on http://{host}:{port} - starting the main loop',
  health: { '/health': { status: 'ok' } },
  models: ({ names: [id] }) => list({ id, owned_by: 'llamacpp', meta: { n_ctx_train: 4096 } }),
  unknown: 'ignores',
  echoing: ['embeddings', 'rerank'],
  // With a key, only /health stays open (server-http.cpp 197).
  key: { arg: '--api-key', env: 'LLAMA_API_KEY', guards: /^\/(?!health$)/ },
  metrics: {
    '/metrics': ({ running, args }) =>
      args['--metrics'] &&
      [
        'requests_processing',
        'requests_deferred',
        'prompt_tokens_total',
        'tokens_predicted_total',
        'n_busy_slots_per_decode',
      ]
        .map((one) => `llamacpp:${one} ${one === 'requests_processing' ? running : 0}`)
        .join('\n'),
  },
  // SIGTERM ends the loop at once and cuts requests in progress.
  drainSeconds: () => 0,
  failures: {
    gpu_memory: {
      lines: [
        'ggml_backend_cuda_buffer_type_alloc_buffer: allocating 5120.00 MiB on device 0: cudaMalloc failed: out of memory',
        'llama_model_load: error loading model: unable to allocate CUDA0 buffer',
        'main: exiting due to model loading error',
      ],
      code: 1,
    },
    port_in_use: {
      lines: [
        "start: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: {port}",
        'main: exiting due to HTTP server error',
      ],
      code: 1,
    },
  },
  crashCode: 1,
};
