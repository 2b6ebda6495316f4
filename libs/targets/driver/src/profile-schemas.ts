import { ENGINE_SERVICES, UNKNOWN_MODEL } from '@slipway/contracts';
import type { Schema } from '@slipway/platform-config';

/** A path of a request to a server. */
export const HTTP_PATH: Schema = { type: 'string', pattern: '^/[\\x21-\\x7e]*$' };

/**
 * How the operator's file describes the behaviour of an engine. The keys are the same for started and adopted engines.
 */
export const PROFILE_SCHEMAS = {
  serves: {
    type: 'array',
    minItems: 1,
    items: { enum: [...ENGINE_SERVICES] },
    description: 'Kinds of requests that it serves. They select the checks of a qualification. Default: [chat]',
  },
  unknown_model: {
    enum: [...UNKNOWN_MODEL],
    description:
      'Response to the name of a model that it does not have. rejects (default): an error. ignores: a result under the name of its own model. echoes: a result under the requested name. unknown: not known',
  },
  identity: {
    type: 'array',
    maxItems: 8,
    items: {
      anyOf: [
        { enum: ['models_list', 'response_model'] },
        {
          type: 'object',
          additionalProperties: false,
          properties: {
            path: HTTP_PATH,
            field: { type: 'string', pattern: '^[A-Za-z0-9_]+(\\.[A-Za-z0-9_]+)*$' },
            equals: { type: 'string', minLength: 1 },
          },
          required: ['path', 'field', 'equals'],
        },
      ],
    },
    description:
      'How it proves which model it has: /v1/models lists it, responses name it, or a JSON field at a path equals a text such as "{model.uri}"',
  },
  cache_salt: {
    type: 'boolean',
    default: false,
    description:
      'Whether it reuses cached prefixes only for requests with the same cache_salt, in every service that it serves',
  },
} satisfies Record<string, Schema>;
