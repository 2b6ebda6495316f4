import { list, OPEN_AI, PYTHON_FAILURES } from './answers.mjs';

/** From the documentation and the source of the engine. [U]: not verified, so the stand-in assumes the worst case. */
export const engine = {
  program: 'python',
  syntax: {
    style: 'argparse',
    words: ['-m', 'sglang.launch_server'],
    values: [
      '--model-path',
      '--host',
      '--port',
      '--served-model-name',
      '--revision',
      '--dtype',
      '--quantization',
      '--context-length',
      '--chat-template',
      '--api-key',
      '--admin-api-key',
      '--mem-fraction-static',
      '--max-running-requests',
      '--max-queued-requests',
      '--max-total-tokens',
      '--chunked-prefill-size',
      '--max-prefill-tokens',
      '--schedule-policy',
      '--schedule-conservativeness',
      '--page-size',
      '--kv-cache-dtype',
      '--tp-size',
      '--pp-size',
      '--dp-size',
      '--base-gpu-id',
      '--speculative-algorithm',
      '--stream-interval',
      '--watchdog-timeout',
    ],
    switches: ['--enable-metrics', '--disable-radix-cache', '--enable-memory-saver'],
  },
  names: (args) => [args['--served-model-name'] ?? args['--model-path']],
  serves: OPEN_AI,
  // Listens early: /v1/models answers, and /health returns 503 while it starts and while it exits.
  loading: 'early',
  ready: 'The server is fired up and ready to roll!',
  health: { '/health': '', '/health_generate': '' },
  models: ({ names }) => list(...names.map((id) => ({ id, root: id, max_model_len: 4096, owned_by: 'sglang' }))),
  unknown: 'echoes',
  errors: 'flat',
  key: { arg: '--api-key', guards: /^\/(?!health$|metrics$)/ },
  info: {
    '/get_model_info': ({ args }) => ({
      model_path: args['--model-path'],
      is_generation: true,
      weight_version: 'default',
    }),
  },
  metrics: {
    '/metrics': ({ running, args }) =>
      args['--enable-metrics'] &&
      ['num_running_reqs', 'num_queue_reqs', 'token_usage', 'cache_hit_rate', 'gen_throughput']
        .map((one) => `sglang:${one} ${one === 'num_running_reqs' ? running : 0}`)
        .join('\n'),
  },
  drainSeconds: () => Infinity,
  pollMs: 500, // 5 s in the engine; shorter here, because tests wait for it.
  children: [{ name: 'sglang::scheduler', renames: true, endsWithParent: true, breaksDrain: true }],
  failures: {
    ...PYTHON_FAILURES,
    gpu_memory: {
      lines: [
        'RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: self.mem_fraction_static=0.5',
      ],
      code: 1,
    },
  },
  crashCode: 1,
};
