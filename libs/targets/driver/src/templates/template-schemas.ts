import { ENV_NAME, type MappingSchema, type Schema } from '@slipway/platform-config';
import { HTTP_PATH, PROFILE_SCHEMAS } from '../profile-schemas.js';

export const ARG_NAME = /^[a-z][a-z0-9_]{0,62}$/;

export const TEXT: Schema = { type: 'string', minLength: 1 };
const SCALAR: Schema = { type: ['string', 'number', 'boolean'] };
const NAMES: Schema = { anyOf: [TEXT, { type: 'array', minItems: 1, items: TEXT }] };

export const seconds = (maximum: number, description: string, rest: Schema = {}): Schema => ({
  type: 'integer',
  minimum: 1,
  maximum,
  ...rest,
  description,
});

export const mapping = (properties: MappingSchema['properties'], required?: string[]): MappingSchema => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...(required && { required }),
});

/** Each element by itself; those that are a list are left out together. */
export const WORDS: Schema = {
  type: 'array',
  minItems: 1,
  items: { anyOf: [TEXT, { type: 'array', minItems: 1, items: TEXT }] },
};

export const ENV: Schema = {
  type: 'object',
  propertyNames: { pattern: ENV_NAME.source },
  additionalProperties: { type: 'string' },
  description: 'Variables that every start has, with placeholders; one whose placeholder has no value is not set',
};

export const ARG: MappingSchema = mapping(
  {
    arg: {
      anyOf: [TEXT, { type: 'array', minItems: 1, maxItems: 2, items: TEXT }],
      description: 'One or two elements, with {} once where the value goes; of a switch the element itself',
    },
    off: { ...TEXT, description: 'What stands there when the switch is false' },
    type: { enum: ['string', 'integer', 'number', 'choice', 'switch', 'json'] },
    min: { type: 'number' },
    max: { type: 'number' },
    at_least: { ...TEXT, description: 'Another argument, whose value it may not be below' },
    default: { ...SCALAR, description: 'Passed on where a revision sets nothing' },
    choices: { type: 'array', minItems: 1, maxItems: 64, items: SCALAR },
    tune: { type: 'array', maxItems: 64, items: SCALAR, description: 'Values worth trying' },
    quality: { type: 'boolean', description: 'Whether it may change what the engine answers' },
    reason: { ...TEXT, description: 'What it is a choice between, for people' },
    max_bytes: { type: 'integer', minimum: 2, maximum: 8_192, default: 2_048, description: 'Of JSON' },
  },
  ['arg'],
);

const LIVE: MappingSchema = {
  ...mapping({
    path: HTTP_PATH,
    interval_seconds: seconds(3_600, 'Between two probes'),
    timeout_seconds: seconds(300, 'Of one probe'),
    failure_threshold: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000,
      description: 'Misses in a row that make it unhealthy',
    },
  }),
  description: 'How it is asked once it was ready, where a revision does not say',
};

const METRICS: MappingSchema = mapping(
  { path: HTTP_PATH, running: NAMES, waiting: NAMES, kv_usage: NAMES, preemptions: NAMES },
  ['path'],
);

const gpus = (shares: string[]): MappingSchema => ({
  ...mapping(
    {
      min: { type: 'integer', minimum: 0, maximum: 64 },
      max: { type: 'integer', minimum: 1, maximum: 64 },
      share: { enum: shares },
    },
    ['min', 'max', 'share'],
  ),
  description: 'Accelerators that it takes, and whether it bears others beside it on one',
});

/** Keys of an engine that read the same on every kind of target that starts it. */
export const TEMPLATE = {
  env_allow: {
    type: 'array',
    items: { type: 'string', pattern: ENV_NAME.source },
    description: 'Variables that runtime.env of a revision may set',
  },
  ready: {
    path: { ...HTTP_PATH, default: '/health', description: 'Where it answers health probes' },
    timeout_seconds: seconds(86_400, 'To its first healthy answer', { default: 60 }),
  },
  live: LIVE,
  stop: {
    grace_seconds: seconds(3_600, 'From the signal to SIGKILL'),
    drain: {
      enum: ['engine', 'gateway'],
      description: 'Who lets requests under way end: the engine after its signal, or the gateways before it',
    },
  },
  gpus,
  profile: PROFILE_SCHEMAS,
  metrics: METRICS,
};
