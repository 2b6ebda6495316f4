import { list, nested, OPEN_AI } from './answers.mjs';

/** From the documentation and the source of the engine; adopted only. [U]: not verified, so the stand-in assumes the worst case. */
export const engine = {
  program: 'lms',
  syntax: { style: 'cobra', words: ['server', 'start'], values: ['--port'], switches: [] },
  // The downloaded models, with JIT on.
  names: (_args, { models }) => models ?? ['tiny'],
  serves: [...OPEN_AI, 'embeddings'],
  loading: 'refused',
  ready: 'Success! Server is now running on port {port}',
  health: { '/': '' }, // [U]
  models: ({ names }) => list(...names.map((id) => ({ id, owned_by: 'organization_owner' }))),
  // With one model loaded, wrong names are ignored. With two, the answer is 404 (lmstudio-bug-tracker#619).
  unknown: ({ names }) => (names.length > 1 ? 'rejects' : 'ignores'),
  refusal: () => nested(404, 'Model not found', 'model_not_found'),
  drainSeconds: () => 0, // [U]
  failures: {},
  crashCode: 1,
};
