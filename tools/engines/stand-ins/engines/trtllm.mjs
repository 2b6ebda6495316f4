import { list, OPEN_AI, PYTHON_FAILURES } from './answers.mjs';

/** From the documentation and the source of the engine. [U]: not verified, so the stand-in assumes the worst case. */
export const engine = {
  program: 'trtllm-serve',
  syntax: {
    style: 'click',
    positionals: ['model'],
    values: [
      '--host',
      '--port',
      '--backend',
      '--tp_size',
      '--pp_size',
      '--max_batch_size',
      '--max_num_tokens',
      '--max_seq_len',
      '--kv_cache_free_gpu_memory_fraction',
      '--config',
      '--tokenizer',
    ],
    switches: ['--trust_remote_code'],
  },
  // The name of the folder; only newer versions have --served_model_name.
  names: (args) => [args.model.split('/').at(-1)],
  serves: OPEN_AI,
  // Binds the port early, but does not answer before it is ready.
  loading: 'hangs',
  ready: 'INFO:     Application startup complete.',
  health: { '/health': '', '/health_generate': '' },
  models: ({ names: [id] }) => list({ id, owned_by: 'tensorrt_llm' }),
  unknown: 'ignores', // [U]: no check was found.
  metrics: { '/metrics': () => '[]' },
  drainSeconds: () => 0, // [U]
  // [U] whether the MPI workers have their own group.
  children: [{ name: 'mpi-worker', ownGroup: true }],
  failures: {
    ...PYTHON_FAILURES,
    gpu_memory: { lines: ['torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.'], code: 1 },
  },
  crashCode: 1,
};
