import { ENV_NAME, type MappingSchema, type Schema } from '@slipway/platform-config';
import { ARG, ARG_NAME, ENV, mapping, MODEL_FIELDS, seconds, TEMPLATE, TEXT, WORDS } from '@slipway/target-driver';

/** What `{…}` may stand for in the command and the variables of an engine. */
export const KUBERNETES_PLACEHOLDERS: ReadonlySet<string> = new Set([
  'port',
  'drain',
  'instance_key',
  'gpu.count',
  ...MODEL_FIELDS.map((field) => `model.${field}`),
]);

/** Of a Role's and a pod's names: a DNS label. */
export const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const QUANTITY = /^(0|[1-9][0-9]{0,14}|[0-9]{1,15}\.[0-9]{1,9})(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/;
const RESOURCE_NAME = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
/** Without white space: what follows would be another word of a command line elsewhere. */
const IMAGE = /^[^\s]{1,512}$/;
const LABEL_KEY = RESOURCE_NAME;
const WHOLE = (minimum: number, maximum: number, description: string): Schema => ({
  type: 'integer',
  minimum,
  maximum,
  description,
});

const ARG_ELEMENTS: Schema = { anyOf: [TEXT, { type: 'array', minItems: 1, maxItems: 2, items: TEXT }] };

const AMOUNTS: Schema = {
  type: 'object',
  propertyNames: { pattern: RESOURCE_NAME.source },
  additionalProperties: { type: 'string', pattern: QUANTITY.source },
};

export const ACCELERATOR: MappingSchema = mapping(
  {
    resource: { type: 'string', pattern: RESOURCE_NAME.source, description: 'What nodes offer it as: nvidia.com/gpu' },
    max_count: WHOLE(1, 64, 'Of one node'),
    node_selector: {
      type: 'object',
      propertyNames: { pattern: LABEL_KEY.source },
      additionalProperties: { type: 'string' },
      description: 'Labels of the nodes that have it',
    },
    tolerations: {
      type: 'array',
      maxItems: 32,
      items: mapping({
        key: TEXT,
        operator: { enum: ['Exists', 'Equal'] },
        value: { type: 'string' },
        effect: { enum: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] },
        tolerationSeconds: { type: 'integer', minimum: 0, maximum: 86_400 },
      }),
      description: 'Taints of those nodes that its pods bear; after those of pod',
    },
    runtime_class: { type: 'string', pattern: DNS_LABEL.source, description: 'runtimeClassName of its pods' },
  },
  ['resource', 'max_count'],
);

const ALLOW: MappingSchema = {
  ...mapping({
    accelerators: { type: 'array', maxItems: 32, items: TEXT, description: "Names of the target's accelerators" },
    count: {
      ...mapping({
        max: WHOLE(1, 64, 'The most accelerators that a revision may ask for'),
        fixed: WHOLE(1, 64, 'How many it always has'),
        arg: { ...ARG_ELEMENTS, description: 'How the number is passed on, with {} once; appended to the command' },
      }),
      description:
        'How many accelerators a revision may ask for; gpus says the same for engines of every kind of target',
    },
    memory_mb: {
      ...mapping({ max: WHOLE(1, 67_108_864, 'MiB') }, ['max']),
      description: 'Memory that a revision may ask for; it is what it requests and its limit',
    },
    max_replicas: WHOLE(1, 10_000, 'The most instances of a revision'),
  }),
  description: 'What resources and scaling of a revision may ask for; nothing else of a pod is theirs',
};

/** Parts of pod templates are read by the API server; only what would undo ours is refused here. */
const POD: Schema = {
  type: 'object',
  description: 'Merged over our pod template: metadata and spec. The main container is engine',
};

/** What is read by its schema; `pod` and `worker_pod` are taken as they are. */
export const KUBERNETES_ENGINE: MappingSchema = mapping(
  {
    image: { type: 'string', pattern: IMAGE.source, description: 'Best by digest: name@sha256:…' },
    command: {
      ...WORDS,
      description: `Program and arguments, in place of those of the image. ${[...KUBERNETES_PLACEHOLDERS].map((one) => `{${one}}`).join(' ')} are filled in. What stands in a list is left out together where one of its placeholders has no value`,
    },
    port: WHOLE(1, 65_535, 'Where the engine listens'),
    key_env: {
      type: 'string',
      pattern: ENV_NAME.source,
      description: 'The variable by which it is told the key that it asks clients for: short for {instance_key} in env',
    },
    args: {
      type: 'object',
      propertyNames: { pattern: ARG_NAME.source },
      additionalProperties: { anyOf: [TEXT, { type: 'array', minItems: 1, maxItems: 2, items: TEXT }, ARG] },
      description: 'What runtime.args of a revision may set; {} stands for the value, and one without it is a switch',
    },
    env_allow: TEMPLATE.env_allow,
    env: ENV,
    gpus: TEMPLATE.gpus(['exclusive']),
    ready: mapping(TEMPLATE.ready),
    live: TEMPLATE.live,
    stop: mapping({
      ...TEMPLATE.stop,
      drain_seconds: seconds(
        3_595,
        'How long requests under way may take to end; five seconds less than grace_seconds',
        { default: 30 },
      ),
    }),
    ...TEMPLATE.profile,
    metrics: TEMPLATE.metrics,
    unit: {
      ...mapping({ kind: { enum: ['deployment', 'leaderworkerset'] }, size: WHOLE(2, 64, 'Pods of a group') }, [
        'kind',
      ]),
      description: 'What an instance is: one pod (a Deployment of one), or a group of pods on several nodes',
    },
    worker_command: { ...WORDS, description: 'Of the pods of a group that do not lead' },
    resources: { ...mapping({ requests: AMOUNTS, limits: AMOUNTS }), description: 'Of its container, as in a pod' },
    allow: ALLOW,
    pod: POD,
    worker_pod: { ...POD, description: 'The same for the pods of a group that do not lead' },
  },
  ['image', 'command', 'port'],
);
