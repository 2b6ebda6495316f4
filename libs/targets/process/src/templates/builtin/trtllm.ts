import type { BuiltInEngine } from './built-in-engine.js';

/** TensorRT-LLM's `trtllm-serve`. It supports no key, and older versions name a model by its folder. */
export const trtllm: BuiltInEngine = {
  template: 'trtllm@1',
  path: ['/opt/trtllm/bin', '/usr/local/cuda/bin'],
  command: ['trtllm-serve', '{model.uri}', '--host=127.0.0.1', '--port={port}', '--tp_size={gpu.count}'],
  gpus: { min: 1, max: 8, share: 'exclusive' },
  ready: { path: '/health', timeout_seconds: 3_600, while_starting: 'either' },
  stop: { signal: 'SIGTERM', to: 'leader', grace_seconds: 60, drain: 'gateway' },
  serves: ['chat', 'completions'],
  unknown_model: 'unknown',
  identity: ['models_list'],
  model_sources: ['{home}/models/**'],
  context: { arg: 'max_seq_len' },
  args: {
    max_batch_size: {
      arg: '--max_batch_size={}',
      type: 'integer',
      min: 1,
      max: 4_096,
      tune: [64, 256],
      reason: 'throughput versus time between tokens',
    },
    max_num_tokens: { arg: '--max_num_tokens={}', type: 'integer', min: 256, max: 1_048_576, tune: [4_096, 8_192] },
    max_seq_len: { arg: '--max_seq_len={}', type: 'integer', min: 256, max: 1_048_576 },
    kv_fraction: { arg: '--kv_cache_free_gpu_memory_fraction={}', type: 'number', min: 0.05, max: 0.95, default: 0.9 },
  },
};
