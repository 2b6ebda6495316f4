import { list, nested, OPEN_AI } from './answers.mjs';

/** From the documentation and the source of the engine; adopted only. [U]: not verified, so the stand-in assumes the worst case. */
export const engine = {
  program: 'ollama',
  syntax: { style: 'cobra', words: ['serve'], values: [], switches: [] },
  address: (env) => env.OLLAMA_HOST ?? '127.0.0.1:11434',
  // Installed, not loaded: the first request loads the model.
  names: (_args, { models }) => models ?? ['tiny'],
  serves: [...OPEN_AI, 'embeddings'],
  loading: 'at first request',
  ready: 'Listening on 127.0.0.1:{port}',
  health: { '/': 'Ollama is running', '/api/version': { version: '0.12.0' } },
  // Requests and answers may use names without a tag; the list has names with the tag.
  models: ({ names }) =>
    list(...names.map((id) => ({ id: id.includes(':') ? id : `${id}:latest`, owned_by: 'library' }))),
  unknown: 'rejects',
  refusal: (name) => nested(404, `model '${name}' not found`, 'not_found_error'),
  drainSeconds: () => 0,
  failures: { port_in_use: { lines: ['Error: listen tcp 127.0.0.1:{port}: bind: address already in use'], code: 1 } },
  crashCode: 2,
};
