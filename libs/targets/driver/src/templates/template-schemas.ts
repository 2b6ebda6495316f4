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

/** Elements of a command line. The elements of a list are left out together. */
export const WORDS: Schema = {
  type: 'array',
  minItems: 1,
  items: { anyOf: [TEXT, { type: 'array', minItems: 1, items: TEXT }] },
};

export const ENV: Schema = {
  type: 'object',
  propertyNames: { pattern: ENV_NAME.source },
  additionalProperties: { type: 'string' },
  description:
    'Environment variables of every start, with placeholders. A variable is omitted if a placeholder in it has no value',
};

export const ARG: MappingSchema = mapping(
  {
    arg: {
      anyOf: [TEXT, { type: 'array', minItems: 1, maxItems: 2, items: TEXT }],
      description:
        'One or two elements of the command line, with {} once for the value. For a switch: the element itself',
    },
    off: { ...TEXT, description: 'Element that is used if the switch is false' },
    type: { enum: ['string', 'integer', 'number', 'choice', 'switch', 'json'] },
    min: { type: 'number' },
    max: { type: 'number' },
    at_least: { ...TEXT, description: 'Another argument. The value must be at least the value of that argument' },
    default: { ...SCALAR, description: 'Value that is used if a revision sets none' },
    choices: { type: 'array', minItems: 1, maxItems: 64, items: SCALAR },
    tune: { type: 'array', maxItems: 64, items: SCALAR, description: 'Values worth trying' },
    quality: { type: 'boolean', description: 'Whether it can change the responses of the engine' },
    reason: { ...TEXT, description: 'Trade-off that it controls, for people' },
    max_bytes: {
      type: 'integer',
      minimum: 2,
      maximum: 8_192,
      default: 2_048,
      description: 'Size limit of the JSON text, in bytes',
    },
  },
  ['arg'],
);

const LIVE: MappingSchema = {
  ...mapping({
    path: HTTP_PATH,
    interval_seconds: seconds(3_600, 'Time between two probes, in seconds'),
    timeout_seconds: seconds(300, 'Time limit of one probe, in seconds'),
    failure_threshold: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000,
      description: 'Number of failed probes in a row that make it unhealthy',
    },
  }),
  description: 'Health probes after the engine was ready. A revision can override them',
};

const METRICS: MappingSchema = mapping(
  { path: HTTP_PATH, running: NAMES, waiting: NAMES, kv_usage: NAMES, preemptions: NAMES },
  ['path'],
);

const CONTEXT: MappingSchema = {
  ...mapping(
    {
      arg: { ...TEXT, description: 'Argument with the number of tokens' },
      shared_by: { ...TEXT, description: 'Argument with the number of concurrent requests that share the tokens' },
    },
    ['arg'],
  ),
  description: 'Arguments that limit the tokens of one request. A qualification compares them with context_length',
};

const gpus = (shares: string[]): MappingSchema => ({
  ...mapping(
    {
      min: { type: 'integer', minimum: 0, maximum: 64 },
      max: { type: 'integer', minimum: 1, maximum: 64 },
      share: { enum: shares },
    },
    ['min', 'max', 'share'],
  ),
  description: 'Accelerators that it uses, and whether it can share one with other engines',
});

/** Keys of an engine that are the same for every kind of target that starts servers. */
export const TEMPLATE = {
  env_allow: {
    type: 'array',
    items: { type: 'string', pattern: ENV_NAME.source },
    description: 'Variables that runtime.env of a revision may set',
  },
  ready: {
    path: { ...HTTP_PATH, default: '/health', description: 'Path of the health probe' },
    timeout_seconds: seconds(86_400, 'Time limit for the first healthy response, in seconds', { default: 60 }),
  },
  live: LIVE,
  stop: {
    grace_seconds: seconds(3_600, 'Time from the signal to SIGKILL, in seconds'),
    drain: {
      enum: ['engine', 'gateway'],
      description:
        'Component that lets requests in flight finish: the engine after its signal, or the gateways before it',
    },
  },
  gpus,
  profile: PROFILE_SCHEMAS,
  metrics: METRICS,
  context: CONTEXT,
};
