import { HUB_DOWNLOAD, type BuiltInEngine } from './built-in-engine.js';

/** vLLM from 0.18, which drains after SIGTERM. */
export const vllm: BuiltInEngine = {
  template: 'vllm@1',
  path: ['/opt/vllm/bin', '/usr/local/cuda/bin'],
  command: [
    ...['vllm', 'serve', '{model.uri}', '--host=127.0.0.1', '--port={port}', '--served-model-name={model.id}'],
    ['--revision={model.revision}'],
    '--tensor-parallel-size={gpu.count}',
    // Ten seconds before SIGKILL. Its own default aborts requests in progress.
    '--shutdown-timeout=50',
    // A higher value bundles tokens, so that the times between tokens would be wrong.
    '--stream-interval=1',
    '--disable-access-log-for-endpoints=/health,/metrics',
  ],
  env: {
    VLLM_NO_USAGE_STATS: '1',
    VLLM_CACHE_ROOT: '{home}/vllm-cache',
    VLLM_API_KEY: '{instance_key}',
    // A redirect would lead from an allowed domain to any other.
    VLLM_MEDIA_URL_ALLOW_REDIRECTS: '0',
  },
  prefetch: HUB_DOWNLOAD,
  gpus: { min: 1, max: 8, share: 'exclusive' },
  ready: { path: '/health', timeout_seconds: 1_800, while_starting: 'refused', log: 'Application startup complete.' },
  serves: ['chat', 'completions', 'responses'],
  unknown_model: 'rejects',
  identity: ['models_list', 'response_model'],
  cache_salt: true,
  model_sources: ['{home}/models/**'],
  metrics: {
    path: '/metrics',
    running: 'vllm:num_requests_running',
    waiting: 'vllm:num_requests_waiting',
    kv_usage: ['vllm:kv_cache_usage_perc', 'vllm:gpu_cache_usage_perc'],
    preemptions: 'vllm:num_preemptions_total',
  },
  context: { arg: 'max_model_len' },
  args: {
    max_num_seqs: {
      arg: '--max-num-seqs={}',
      type: 'integer',
      min: 1,
      max: 2_048,
      tune: [32, 64, 128, 256, 512],
      reason: 'throughput versus time between tokens',
    },
    max_num_batched_tokens: {
      arg: '--max-num-batched-tokens={}',
      type: 'integer',
      min: 256,
      max: 65_536,
      at_least: 'max_num_seqs',
      tune: [1_024, 2_048, 4_096, 8_192],
      reason: 'time to first token versus time between tokens',
    },
    gpu_memory_utilization: {
      arg: '--gpu-memory-utilization={}',
      type: 'number',
      min: 0.05,
      max: 0.97,
      default: 0.9,
      reason: 'share of the device memory: more for the cache versus more for other programs',
    },
    kv_cache_memory_bytes: {
      arg: '--kv-cache-memory-bytes={}',
      type: 'integer',
      min: 1,
      reason: 'same cache size at every start; overrides gpu_memory_utilization',
    },
    max_model_len: { arg: '--max-model-len={}', type: 'integer', min: 256, max: 1_048_576 },
    kv_cache_dtype: {
      arg: '--kv-cache-dtype={}',
      type: 'choice',
      choices: ['auto', 'fp8'],
      tune: ['auto', 'fp8'],
      quality: true,
    },
    prefix_caching: {
      arg: '--enable-prefix-caching',
      off: '--no-enable-prefix-caching',
      type: 'switch',
      tune: [true, false],
    },
    enforce_eager: { arg: '--enforce-eager', type: 'switch', reason: 'faster start versus slower responses' },
    // Without it vLLM fetches any URL that a request names, from the network of its host. No host has this name, so only
    // data: URLs work until the operator sets other choices; a revision cannot.
    allowed_media_domains: {
      arg: '--allowed-media-domains={}',
      type: 'choice',
      choices: ['media.invalid'],
      default: 'media.invalid',
    },
    // Not speculative_config: its JSON may name another model at any position.
  },
};
