import { list, nested, OPEN_AI, PYTHON_FAILURES } from './answers.mjs';

/** From the documentation and the source of the engine. [U]: not verified, so the stand-in assumes the worst case. */
export const engine = {
  program: 'vllm',
  syntax: {
    style: 'argparse',
    words: ['serve'],
    positionals: ['model'],
    values: [
      '--host',
      '--port',
      '--served-model-name',
      '--revision',
      '--tokenizer',
      '--dtype',
      '--quantization',
      '--max-model-len',
      '--chat-template',
      '--api-key',
      '--tool-call-parser',
      '--gpu-memory-utilization',
      '--kv-cache-memory-bytes',
      '--kv-cache-dtype',
      '--block-size',
      '--max-num-seqs',
      '--max-num-batched-tokens',
      '--scheduling-policy',
      '--stream-interval',
      '--tensor-parallel-size',
      '--pipeline-parallel-size',
      '--speculative-config',
      '--shutdown-timeout',
      '--disable-access-log-for-endpoints',
      '--uds',
      '--allowed-media-domains',
    ],
    switches: [
      '--enable-prefix-caching',
      '--no-enable-prefix-caching',
      '--enforce-eager',
      '--enable-auto-tool-choice',
      '--enable-lora',
      '--enable-force-include-usage',
    ],
  },
  names: (args) => [args['--served-model-name'] ?? args.model],
  serves: OPEN_AI,
  // Refuses connections until the model is loaded; then answers 200 with an empty body.
  loading: 'refused',
  ready: 'INFO:     Application startup complete.',
  health: { '/health': '' },
  models: ({ names, args }) =>
    list(
      ...names.map((id) => ({
        id,
        root: args.model,
        parent: null,
        max_model_len: 4096,
        owned_by: 'vllm',
        permission: [],
      })),
    ),
  unknown: 'rejects',
  refusal: (name) => nested(404, `The model \`${name}\` does not exist.`, 'NotFoundError'),
  needsNoModel: true,
  key: { arg: '--api-key', env: 'VLLM_API_KEY', guards: /^\/(v1|v2|inference)(\/|$)/ },
  metrics: {
    '/metrics': ({ running, names: [name] }) =>
      ['num_requests_running', 'num_requests_waiting', 'kv_cache_usage_perc', 'num_preemptions_total']
        .map((one) => `vllm:${one}{engine="0",model_name="${name}"} ${one === 'num_requests_running' ? running : 0}`)
        .join('\n'),
  },
  // 0 is the default: requests are aborted.
  drainSeconds: (args) => Number(args['--shutdown-timeout'] ?? 0),
  // During the warm-up, a SIGTERM orphans its workers (#44751), and so does a SIGKILL (#55510).
  orphansWhileLoading: true,
  children: [{ name: 'VLLM::EngineCore', renames: true }],
  failures: {
    ...PYTHON_FAILURES,
    gpu_memory: {
      lines: [
        'ValueError: Free memory on device (3.1/79.2 GiB) on startup is less than desired GPU memory utilization (0.92, 72.8 GiB).',
        'RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}',
      ],
      code: 1,
    },
    kv_too_small: {
      lines: [
        "ValueError: To serve at least one request with the model's max seq len (131072), 16.00 GiB KV cache is needed, which is larger than the available KV cache memory (4.00 GiB). The estimated maximum model length is 32768.",
        'RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}',
      ],
      code: 1,
    },
  },
  // vllm#48966
  crashCode: 0,
};
