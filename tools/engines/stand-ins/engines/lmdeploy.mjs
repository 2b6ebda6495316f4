import { list, OPEN_AI, PYTHON_FAILURES } from './answers.mjs';

/** From the documentation and the source of the engine. [U]: not verified, so the stand-in assumes the worst case. */
export const engine = {
  program: 'lmdeploy',
  syntax: {
    style: 'argparse',
    words: ['serve', 'api_server'],
    positionals: ['model'],
    values: [
      '--server-name',
      '--server-port',
      '--model-name',
      '--backend',
      '--tp',
      '--session-len',
      '--max-batch-size',
      '--cache-max-entry-count',
      '--quant-policy',
      '--max-concurrent-requests',
      '--chat-template',
      '--adapters',
      '--api-keys',
      '--revision',
      '--download-dir',
    ],
    switches: ['--enable-prefix-caching', '--allow-terminate-by-client'],
  },
  host: '--server-name',
  port: '--server-port',
  names: (args) => [args['--model-name'] ?? args.model],
  serves: OPEN_AI,
  loading: 'early',
  ready: 'INFO:     Application startup complete.',
  health: { '/health': '' },
  models: ({ names: [id] }) => list({ id, owned_by: 'lmdeploy' }),
  unknown: 'rejects',
  refusal: (name) => ({
    status: 404,
    body: { message: `The model '${name}' does not exist.`, type: 'not_found_error', code: 404, object: 'error' },
  }),
  errors: 'flat',
  key: { arg: '--api-keys', guards: /^\/v1(\/|$)/ }, // Which routes it guards: [U]
  metrics: {
    '/metrics': ({ running }) =>
      ['num_requests_running', 'num_requests_waiting', 'gpu_cache_usage_perc', 'prefix_cache_hit_rate']
        .map((one) => `lmdeploy:${one} ${one === 'num_requests_running' ? running : 0}`)
        .join('\n'),
  },
  drainSeconds: () => 0, // [U]
  failures: {
    ...PYTHON_FAILURES,
    gpu_memory: { lines: ['torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.'], code: 1 },
  },
  crashCode: 1,
};
