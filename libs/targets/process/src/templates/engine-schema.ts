import { ENV_NAME, partOf, type MappingSchema, type Schema } from '@slipway/platform-config';
import { ARG, ARG_NAME, ENV, mapping, seconds, TEMPLATE, TEXT, WORDS } from '@slipway/target-driver';
import { builtInNames } from './builtin/index.js';
import { PROCESS_PLACEHOLDERS } from './engine-config.js';

/** The placeholder of a port is `{port.<name>}`. */
const PORT_NAME = /^[a-z][a-z_]{0,30}$/;
const USER_NAME = /^[a-z_][a-z0-9_-]{0,31}$/;

const SECRET_ENV: Schema = {
  type: 'object',
  propertyNames: { pattern: ENV_NAME.source },
  additionalProperties: mapping({ secret: TEXT }, ['secret']),
  description: 'Environment variables whose values are secrets of this file. The secrets are read at each start',
};

/** The keys of an engine, which a target may also set for all its engines. */
const SURROUNDINGS: MappingSchema['properties'] = {
  env: ENV,
  secret_env: SECRET_ENV,
  path: {
    type: 'array',
    maxItems: 32,
    items: TEXT,
    description: 'Folders before PATH, such as that of a virtual environment',
  },
  cwd: { ...TEXT, description: 'Working folder, such as {instance.dir}. Default: that of the worker' },
  user: { type: 'string', pattern: USER_NAME.source, description: 'Operating-system user that runs the engine' },
  limits: mapping({
    nofile: { type: 'integer', minimum: 64, maximum: 1_048_576, description: 'Maximum number of open files' },
    nice: { type: 'integer', minimum: 0, maximum: 19 },
    memory_mb: {
      type: 'integer',
      minimum: 1,
      maximum: 67_108_864,
      description: 'Memory limit of all its processes in MiB, enforced by a cgroup',
    },
    core_mb: { type: 'integer', minimum: 0, maximum: 1_048_576, description: 'Maximum size of a core file in MiB' },
  }),
  ready: mapping({
    ...TEMPLATE.ready,
    while_starting: {
      enum: ['refused', '503', 'either', 503],
      description:
        'Response of an engine that still loads: no connection (refused), 503, or either. Other responses are reported at once. Absent: every response means loading',
    },
    listener: {
      enum: ['own', 'any'],
      default: 'own',
      description:
        'Processes that may listen on its port: its own, or any, for example for containers that another program starts',
    },
    log: {
      ...TEXT,
      description:
        'Part of a line that it logs when it is ready. For explanations only: it does not decide whether the engine is ready',
    },
  }),
  live: TEMPLATE.live,
  stop: mapping({
    signal: { enum: ['SIGTERM', 'SIGINT', 'SIGQUIT'] },
    to: {
      enum: ['leader', 'group'],
      description: 'Processes that get the signal. SIGKILL goes to all processes of the engine',
    },
    ...TEMPLATE.stop,
    memory_free_within_seconds: seconds(600, 'Time limit for the memory of its devices to become free, in seconds', {
      default: 30,
    }),
  }),
};

export const ENGINE_DEFAULTS: MappingSchema = {
  ...mapping(SURROUNDINGS),
  description: 'Settings of every engine of this target that does not set its own',
};

export const PROCESS_ENGINE: MappingSchema = {
  ...mapping({
    extends: {
      enum: ['builtin', ...builtInNames()],
      description:
        'The built-in template with the name of the engine (builtin), or another one. Keys that are set here override it; null removes a key',
    },
    program: { ...TEXT, description: 'Program that replaces the one of the template' },
    command: {
      ...WORDS,
      description: `Program and arguments, without a shell. Placeholders: ${[...PROCESS_PLACEHOLDERS].map((one) => `{${one}}`).join(' ')} and {port.<name>}; {port} is required. A nested list is omitted as a whole if one of its placeholders has no value`,
    },
    args: {
      type: 'object',
      propertyNames: { pattern: ARG_NAME.source },
      additionalProperties: { anyOf: [{ type: 'string', pattern: '\\{\\}' }, ARG] },
      description: 'Arguments that runtime.args of a revision may set. {} is replaced by the value',
    },
    env_allow: TEMPLATE.env_allow,
    ...SURROUNDINGS,
    ports: {
      type: 'array',
      maxItems: 8,
      items: { type: 'string', pattern: PORT_NAME.source },
      description: 'Ports that it needs in addition to {port}: metrics becomes {port.metrics}',
    },
    gpus: TEMPLATE.gpus(['exclusive', 'fraction']),
    ...TEMPLATE.profile,
    metrics: TEMPLATE.metrics,
    context: TEMPLATE.context,
    model_sources: {
      type: 'array',
      maxItems: 64,
      items: TEXT,
      description:
        'Models that model.uri may name: globs of absolute paths such as /srv/models/**, and hub ids such as hf:Qwen/*',
    },
    prefetch: {
      ...mapping(
        {
          command: WORDS,
          env: ENV,
          secret_env: SECRET_ENV,
          timeout_seconds: seconds(86_400, 'Time limit, in seconds'),
        },
        ['command', 'timeout_seconds'],
      ),
      description: 'Command that fetches the model before the start',
    },
  }),
};

/**
 * The schema of an entry of `engines`, for editors: a complete engine, or its changes to the template that it extends.
 */
export const ENGINE_ENTRY: Schema = {
  anyOf: [
    {
      ...PROCESS_ENGINE,
      // An engine that gets its port by a variable has `env`.
      anyOf: [
        {
          required: ['command'],
          // The placeholder is one of its words.
          properties: { command: { type: 'array', contains: { type: 'string', pattern: '\\{port\\}' } } },
        },
        { required: ['command', 'env'] },
      ],
    },
    { ...partOf(PROCESS_ENGINE), required: ['extends'] },
  ],
};
