import { HUB_DOWNLOAD, type BuiltInEngine } from './built-in-engine.js';

/** SGLang. It accepts its key only as an argument, which other users of the host can see. */
export const sglang: BuiltInEngine = {
  template: 'sglang@1',
  path: ['/opt/sglang/bin', '/usr/local/cuda/bin'],
  command: [
    ...['python', '-m', 'sglang.launch_server', '--model-path={model.uri}', '--host=127.0.0.1', '--port={port}'],
    '--served-model-name={model.id}',
    ['--revision={model.revision}'],
    '--tp-size={gpu.count}',
    '--enable-metrics',
    '--stream-interval=1',
    '--api-key={instance_key}',
  ],
  // Its own /health generates a token: that takes a second at best, and gives a 503 during a long prompt.
  env: { SGLANG_ENABLE_HEALTH_ENDPOINT_GENERATION: '0' },
  prefetch: HUB_DOWNLOAD,
  gpus: { min: 1, max: 8, share: 'exclusive' },
  // It listens only after it has begun to load, so both answers mean loading.
  ready: {
    path: '/health',
    timeout_seconds: 1_800,
    while_starting: 'either',
    log: 'The server is fired up and ready to roll!',
  },
  live: { path: '/health', interval_seconds: 5, timeout_seconds: 10, failure_threshold: 6 },
  serves: ['chat', 'completions'],
  unknown_model: 'echoes',
  identity: ['models_list', { path: '/get_model_info', field: 'model_path', equals: '{model.uri}' }],
  cache_salt: true,
  model_sources: ['{home}/models/**'],
  metrics: {
    path: '/metrics',
    running: 'sglang:num_running_reqs',
    waiting: 'sglang:num_queue_reqs',
    kv_usage: 'sglang:token_usage',
  },
  context: { arg: 'context_length' },
  args: {
    max_running_requests: {
      arg: '--max-running-requests={}',
      type: 'integer',
      min: 1,
      max: 4_096,
      tune: [32, 64, 128, 256],
      reason: 'throughput versus time between tokens',
    },
    mem_fraction_static: {
      arg: '--mem-fraction-static={}',
      type: 'number',
      min: 0.1,
      max: 0.97,
      reason: 'share of memory for weights and cache; starts fail if it is too low or too high',
    },
    chunked_prefill_size: {
      arg: '--chunked-prefill-size={}',
      type: 'integer',
      min: -1,
      max: 65_536,
      tune: [2_048, 4_096, 8_192],
      reason: 'time to first token versus time between tokens; -1 disables it',
    },
    schedule_policy: { arg: '--schedule-policy={}', type: 'choice', choices: ['fcfs', 'lpm'], tune: ['fcfs', 'lpm'] },
    schedule_conservativeness: { arg: '--schedule-conservativeness={}', type: 'number', min: 0.3, max: 1.3 },
    context_length: { arg: '--context-length={}', type: 'integer', min: 256, max: 1_048_576 },
  },
};
