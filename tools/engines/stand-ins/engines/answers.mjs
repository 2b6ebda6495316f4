/** Shapes of answers that several engines share. */
export const nested = (status, message, type) => ({ status, body: { error: { message, type, code: status } } });
export const list = (...data) => ({
  object: 'list',
  data: data.map((one) => ({ object: 'model', created: 1, ...one })),
});

export const OPEN_AI = ['chat', 'completions', 'responses'];

/** How typical starts fail: the last lines and the exit code. */
export const PYTHON_FAILURES = {
  port_in_use: {
    lines: ["[Errno 98] error while attempting to bind on address ('127.0.0.1', {port}): address already in use"],
    code: 1,
  },
  model_access: {
    lines: [
      'huggingface_hub.errors.GatedRepoError: 401 Client Error.',
      'You are trying to access a gated repo.',
      'Make sure to have access to it at https://huggingface.co/{model}.',
    ],
    code: 1,
  },
  driver: { lines: ['RuntimeError: No CUDA GPUs are available: no CUDA-capable device is detected'], code: 1 },
};
