import type { BuiltInEngine } from './built-in-engine.js';

/** llama.cpp's `llama-server`, which takes an option and its value as two elements. */
export const llamacpp: BuiltInEngine = {
  template: 'llamacpp@1',
  path: ['/opt/llama.cpp/bin'],
  command: [
    ...['llama-server', '--model', '{model.uri}', '--alias', '{model.id}', '--host', '127.0.0.1', '--port', '{port}'],
    ...['--metrics', '--no-ui', '--offline', '--jinja'],
  ],
  env: { LLAMA_API_KEY: '{instance_key}' },
  gpus: { min: 0, max: 4, share: 'fraction' },
  // Refuses connections until it listens, then answers 503 while it loads.
  ready: { path: '/health', timeout_seconds: 600, while_starting: 'either', log: 'server is listening' },
  // SIGTERM aborts requests in progress.
  stop: { signal: 'SIGTERM', to: 'leader', grace_seconds: 20, drain: 'gateway' },
  serves: ['chat', 'completions', 'responses'],
  unknown_model: 'ignores',
  identity: ['models_list', 'response_model'],
  model_sources: ['{home}/models/**/*.gguf'],
  metrics: { path: '/metrics', running: 'llamacpp:requests_processing', waiting: 'llamacpp:requests_deferred' },
  context: { arg: 'ctx_size', shared_by: 'parallel' },
  args: {
    // It fits unset values to the free memory, so two starts would differ.
    parallel: {
      arg: ['--parallel', '{}'],
      type: 'integer',
      min: 1,
      max: 64,
      default: 4,
      tune: [1, 2, 4, 8],
      reason: 'concurrent requests, which share ctx_size',
    },
    ctx_size: {
      arg: ['--ctx-size', '{}'],
      type: 'integer',
      min: 256,
      max: 1_048_576,
      default: 8_192,
      reason: 'tokens of all concurrent requests together: one request gets ctx_size divided by parallel',
    },
    batch_size: { arg: ['--batch-size', '{}'], type: 'integer', min: 32, max: 16_384, tune: [512, 2_048] },
    ubatch_size: { arg: ['--ubatch-size', '{}'], type: 'integer', min: 32, max: 4_096, tune: [256, 512, 1_024] },
    gpu_layers: {
      arg: ['--n-gpu-layers', '{}'],
      type: 'integer',
      min: 0,
      max: 999,
      default: 999,
      reason: 'layers on the device; 999 means all, or none if there is no device',
    },
    cache_type_k: { arg: ['--cache-type-k', '{}'], type: 'choice', choices: ['f16', 'q8_0'], quality: true },
    threads: { arg: ['--threads', '{}'], type: 'integer', min: 1, max: 1_024 },
  },
};
