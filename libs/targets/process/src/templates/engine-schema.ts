import { ENV_NAME, partOf, type MappingSchema, type Schema } from '@slipway/platform-config';
import { ARG, ARG_NAME, ENV, mapping, seconds, TEMPLATE, TEXT, WORDS } from '@slipway/target-driver';
import { builtInNames } from './builtin/index.js';
import { PROCESS_PLACEHOLDERS } from './engine-config.js';

/** Their placeholder is `{port.<name>}`. */
const PORT_NAME = /^[a-z][a-z_]{0,30}$/;
const USER_NAME = /^[a-z_][a-z0-9_-]{0,31}$/;

const SECRET_ENV: Schema = {
  type: 'object',
  propertyNames: { pattern: ENV_NAME.source },
  additionalProperties: mapping({ secret: TEXT }, ['secret']),
  description: 'Variables whose values are secrets of this file, read at each start',
};

/** What an engine has, and a target for all of its engines. */
const SURROUNDINGS: MappingSchema['properties'] = {
  env: ENV,
  secret_env: SECRET_ENV,
  path: { type: 'array', maxItems: 32, items: TEXT, description: 'Folders before PATH, as of a virtual environment' },
  cwd: { ...TEXT, description: "Working folder, as in {instance.dir}; the worker's by default" },
  user: { type: 'string', pattern: USER_NAME.source, description: 'Operating-system user that it runs as' },
  limits: mapping({
    nofile: { type: 'integer', minimum: 64, maximum: 1_048_576, description: 'Open files' },
    nice: { type: 'integer', minimum: 0, maximum: 19 },
    memory_mb: { type: 'integer', minimum: 1, maximum: 67_108_864, description: 'Of all its processes, by cgroup' },
    core_mb: { type: 'integer', minimum: 0, maximum: 1_048_576, description: 'Size of a core file' },
  }),
  ready: mapping({
    ...TEMPLATE.ready,
    while_starting: {
      enum: ['refused', '503', 'either', 503],
      description:
        'What is still loading: no connection, a 503, or both; anything else is reported at once. Absent: all is',
    },
    listener: {
      enum: ['own', 'any'],
      default: 'own',
      description:
        'Who may listen at its port: its own processes, or any, as with containers that another program starts',
    },
    log: { ...TEXT, description: 'A piece of what it logs when it is up; explains, decides nothing' },
  }),
  live: TEMPLATE.live,
  stop: mapping({
    signal: { enum: ['SIGTERM', 'SIGINT', 'SIGQUIT'] },
    to: { enum: ['leader', 'group'], description: 'Who gets the signal; SIGKILL gets all that belongs to it' },
    ...TEMPLATE.stop,
    memory_free_within_seconds: seconds(600, 'How long the memory of its devices may take to come back', {
      default: 30,
    }),
  }),
};

export const ENGINE_DEFAULTS: MappingSchema = {
  ...mapping(SURROUNDINGS),
  description: 'What every engine of this target has where it says nothing else',
};

export const PROCESS_ENGINE: MappingSchema = {
  ...mapping({
    extends: {
      enum: ['builtin', ...builtInNames()],
      description:
        'The built-in template of its own name (builtin), or another; any key given here overrides, null takes away',
    },
    program: { ...TEXT, description: 'The program of the template that it extends' },
    command: {
      ...WORDS,
      description: `Program and arguments, without a shell. ${[...PROCESS_PLACEHOLDERS].map((one) => `{${one}}`).join(' ')} and {port.<name>} are filled in; {port} must be there. What stands in a list is left out together where one of its placeholders has no value`,
    },
    args: {
      type: 'object',
      propertyNames: { pattern: ARG_NAME.source },
      additionalProperties: { anyOf: [{ type: 'string', pattern: '\\{\\}' }, ARG] },
      description: 'What runtime.args of a revision may set; {} stands for the value',
    },
    env_allow: TEMPLATE.env_allow,
    ...SURROUNDINGS,
    ports: {
      type: 'array',
      maxItems: 8,
      items: { type: 'string', pattern: PORT_NAME.source },
      description: 'Ports that it needs beside {port}: metrics is {port.metrics}',
    },
    gpus: TEMPLATE.gpus(['exclusive', 'fraction']),
    ...TEMPLATE.profile,
    metrics: TEMPLATE.metrics,
    model_sources: {
      type: 'array',
      maxItems: 64,
      items: TEXT,
      description:
        'What model.uri may name: globs of absolute paths such as /srv/models/**, and hub ids such as hf:Qwen/*',
    },
    prefetch: {
      ...mapping({ command: WORDS, env: ENV, secret_env: SECRET_ENV, timeout_seconds: seconds(86_400, 'At most') }, [
        'command',
        'timeout_seconds',
      ]),
      description: 'Fetches the model before the start',
    },
  }),
};

/** An entry of `engines`, for editors: whole, or what it changes of the template that it extends. */
export const ENGINE_ENTRY: Schema = {
  anyOf: [
    {
      ...PROCESS_ENGINE,
      // Who tells the port by a variable writes env.
      anyOf: [
        {
          required: ['command'],
          // Among its words.
          properties: { command: { type: 'array', contains: { type: 'string', pattern: '\\{port\\}' } } },
        },
        { required: ['command', 'env'] },
      ],
    },
    { ...partOf(PROCESS_ENGINE), required: ['extends'] },
  ],
};
