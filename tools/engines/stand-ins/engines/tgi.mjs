import { list, PYTHON_FAILURES } from './answers.mjs';

/** From the documentation and the source of the engine. [U]: not verified, so the stand-in assumes the worst case. */
export const engine = {
  program: 'text-generation-launcher',
  syntax: {
    style: 'clap',
    values: [
      '--model-id',
      '--revision',
      '--hostname',
      '--port',
      '--prometheus-port',
      '--shard-uds-path',
      '--master-port',
      '--num-shard',
      '--quantize',
      '--dtype',
      '--payload-limit',
      '--max-concurrent-requests',
      '--max-input-tokens',
      '--max-total-tokens',
      '--max-batch-prefill-tokens',
      '--max-batch-total-tokens',
      '--waiting-served-ratio',
      '--max-waiting-tokens',
      '--cuda-memory-fraction',
      '--speculate',
      '--lora-adapters',
      '--graceful-termination-timeout',
    ],
    switches: ['--json-output'],
  },
  host: '--hostname',
  // Has no separate served name.
  names: (args) => [args['--model-id']],
  serves: ['chat', 'completions'],
  loading: 'refused',
  ready: 'INFO text_generation_router::server: Connected',
  health: { '/health': '' },
  unhealthy: { error: 'unhealthy', error_type: 'healthcheck' },
  models: ({ names: [id] }) => list({ id, owned_by: id }),
  unknown: 'ignores',
  key: { env: 'API_KEY', guards: /^\/(?!health$|info$|metrics$)/ }, // Which routes it guards: [U]
  info: { '/info': ({ args }) => ({ model_id: args['--model-id'], max_total_tokens: 4096 }) },
  metrics: { '/metrics': ({ running }) => `tgi_queue_size 0\ntgi_batch_current_size ${running}` },
  // SIGTERM is sent to the launcher.
  drainSeconds: (args) => Number(args['--graceful-termination-timeout'] ?? 90),
  // launcher/src/main.rs 1157, 1515, 1980: each child has a process group. The launcher ends when a shard dies.
  children: [{ name: 'text-generation-server', ownGroup: true, endsAll: true }],
  failures: {
    gpu_memory: {
      lines: ['torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.', 'Error: ShardCannotStart'],
      code: 1,
    },
    model_access: PYTHON_FAILURES.model_access,
    port_in_use: { lines: ['Error: Address already in use (os error 98)'], code: 1 },
  },
  crashCode: 1,
};
