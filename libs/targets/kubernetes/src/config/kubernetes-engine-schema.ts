import { ENV_NAME, type MappingSchema, type Schema } from '@slipway/platform-config';
import { ARG, ARG_NAME, ENV, mapping, MODEL_FIELDS, seconds, TEMPLATE, TEXT, WORDS } from '@slipway/target-driver';

/** The placeholders of the command and the variables of an engine. */
export const KUBERNETES_PLACEHOLDERS: ReadonlySet<string> = new Set([
  'port',
  'drain',
  'instance_key',
  'gpu.count',
  ...MODEL_FIELDS.map((field) => `model.${field}`),
]);

/** A DNS label, for the names of namespaces and pods. */
export const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const QUANTITY = /^(0|[1-9][0-9]{0,14}|[0-9]{1,15}\.[0-9]{1,9})(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/;
const RESOURCE_NAME = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
/** Without white space: text after it would be another word of a command line elsewhere. */
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
    resource: {
      type: 'string',
      pattern: RESOURCE_NAME.source,
      description: 'Resource name on the nodes, such as nvidia.com/gpu',
    },
    max_count: WHOLE(1, 64, 'Number on one node'),
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
      description: 'Tolerations of its pods for taints of those nodes. They follow the tolerations in pod',
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
        max: WHOLE(1, 64, 'Maximum number of accelerators that a revision may request'),
        fixed: WHOLE(1, 64, 'Fixed number of accelerators'),
        arg: {
          ...ARG_ELEMENTS,
          description: 'Argument that passes the number to the engine, with {} once. It is appended to the command',
        },
      }),
      description: 'Number of accelerators that a revision may request. gpus means the same on every kind of target',
    },
    memory_mb: {
      ...mapping({ max: WHOLE(1, 67_108_864, 'MiB') }, ['max']),
      description: 'Memory that a revision may request. It is the request and the limit of the container',
    },
    max_replicas: WHOLE(1, 10_000, 'Maximum number of instances of a revision'),
  }),
  description: 'Limits of resources and scaling of a revision. A revision cannot change other parts of a pod',
};

/** The API server checks parts of pod templates. This code refuses only parts that would undo ours. */
const POD: Schema = {
  type: 'object',
  description: 'metadata and spec that are merged over the pod template of Slipway. The main container is named engine',
};

/** Keys that the schema checks. `pod` and `worker_pod` are read unchanged. */
export const KUBERNETES_ENGINE: MappingSchema = mapping(
  {
    image: { type: 'string', pattern: IMAGE.source, description: 'Preferably with a digest: name@sha256:…' },
    command: {
      ...WORDS,
      description: `Program and arguments, instead of those of the image. Placeholders: ${[...KUBERNETES_PLACEHOLDERS].map((one) => `{${one}}`).join(' ')}. A nested list is omitted as a whole if one of its placeholders has no value`,
    },
    port: WHOLE(1, 65_535, 'Port of the engine'),
    key_env: {
      type: 'string',
      pattern: ENV_NAME.source,
      description:
        'Variable that passes the key to the engine, which requires it from clients. Short for {instance_key} in env',
    },
    args: {
      type: 'object',
      propertyNames: { pattern: ARG_NAME.source },
      additionalProperties: { anyOf: [TEXT, { type: 'array', minItems: 1, maxItems: 2, items: TEXT }, ARG] },
      description:
        'Arguments that runtime.args of a revision may set. {} is replaced by the value; an argument without {} is a switch',
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
        'Time limit for requests in flight to finish, in seconds; five seconds less than grace_seconds',
        { default: 30 },
      ),
    }),
    ...TEMPLATE.profile,
    metrics: TEMPLATE.metrics,
    context: TEMPLATE.context,
    unit: {
      ...mapping(
        { kind: { enum: ['deployment', 'leaderworkerset'] }, size: WHOLE(2, 64, 'Number of pods in a group') },
        ['kind'],
      ),
      description: 'Kind of an instance: one pod (a Deployment with one replica), or a group of pods on several nodes',
    },
    worker_command: { ...WORDS, description: 'Command of the pods of a group that are not the leader' },
    resources: {
      ...mapping({ requests: AMOUNTS, limits: AMOUNTS }),
      description: 'Resources of its container, as in a pod',
    },
    allow: ALLOW,
    spread: {
      enum: ['soft', 'hard', 'pack'],
      default: 'soft',
      description:
        'Nodes of the instances of a revision. soft: different nodes and zones if possible; hard: an instance waits while no node with the fewest of them has capacity; pack: next to other instances of the target',
    },
    pod: POD,
    worker_pod: { ...POD, description: 'The same for the pods of a group that are not the leader' },
  },
  ['image', 'command', 'port'],
);
