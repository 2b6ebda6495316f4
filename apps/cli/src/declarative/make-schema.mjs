// Makes the schema of the file that `slipway apply` takes, from the api's document.
// `node apps/cli/src/declarative/make-schema.mjs` renews it; --check writes nothing, and
// exits with 1 if the file is not up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';

const FILE = path.join(import.meta.dirname, 'manifest.schema.json');
const api = JSON.parse(readFileSync(path.join(import.meta.dirname, '../../../../libs/sdk/openapi.json'), 'utf8'));
const { schemas } = api.components;

const definitions = {};

/**
 * Adapts a schema of the api to the file: it is closed, so that a typing mistake is found, and null removes a field.
 */
function adapted(schema) {
  const { $ref, allOf, example, properties, required = [], additionalProperties, items, ...rest } = withoutNull(schema);
  const { default: _default, 'x-default': objectDefault, ...kept } = rest;
  // The description repeats the default, which does not hold for a field that the file omits.
  if (objectDefault !== undefined) kept.description = kept.description?.replace(/(?:\. |^)Default: `.*`$/s, '.');
  if (kept.description === '.') delete kept.description;
  if ($ref) return { ...kept, $ref: refTo($ref) };
  if (allOf) return { ...kept, allOf: allOf.map(adapted) };
  const made = { ...kept, ...(example !== undefined && { examples: [example] }) };
  if (items) made.items = adapted(items);
  if (properties) {
    made.additionalProperties = false;
    made.properties = Object.fromEntries(
      Object.entries(properties).map(([name, one]) => [name, required.includes(name) ? adapted(one) : optional(one)]),
    );
    if (required.length > 0) made.required = required;
  } else if (additionalProperties !== undefined)
    made.additionalProperties =
      typeof additionalProperties === 'object' ? optional(additionalProperties) : additionalProperties;
  return made;
}

/** The api also takes null for a field that it fills in; in the file, only an omission leaves a field alone. */
function withoutNull({ anyOf, ...schema }) {
  const { type, enum: values } = schema;
  if (Array.isArray(type)) {
    const types = type.filter((one) => one !== 'null');
    schema.type = types.length === 1 ? types[0] : types;
  }
  if (values) schema.enum = values.filter((one) => one !== null);
  const choice = anyOf?.filter((one) => one.type !== 'null');
  if (choice?.length !== 1) return anyOf ? { anyOf, ...schema } : schema;
  const [only] = choice;
  // In draft 7, nothing next to a reference counts.
  return Object.keys(schema).length === 0 ? only : { ...schema, allOf: [only] };
}

/** A field that the api fills in always has a value, and cannot be removed. */
function optional(schema) {
  const made = adapted(schema);
  if (schema.default !== undefined || schema['x-default'] !== undefined) return made;
  if (schema.description) delete made.description;
  const { enum: values, ...others } = made;
  const nullable =
    typeof made.type === 'string'
      ? { ...others, type: [made.type, 'null'], ...(values && { enum: [...values, null] }) }
      : { anyOf: [made, { type: 'null' }] };
  return { ...(schema.description && { description: schema.description }), ...nullable };
}

function refTo(ref) {
  // A schema of requests differs from that of answers only in the nulls.
  const name = ref
    .split('/')
    .pop()
    .replace(/InputDto$/, 'Dto');
  if (!(name in definitions)) {
    definitions[name] = {};
    definitions[name] = adapted(schemas[name]);
  }
  return `#/definitions/${name}`;
}

const KEPT = 'Omitted fields keep their values on the server; null removes a field.';

/** The settings in the api's body, without those that have their own section in the file. */
function settings() {
  const { properties, required } = schemas.CreateDeploymentDto;
  const { default_strategy: _strategy, default_analysis: _analysis, ...own } = properties;
  const made = adapted({ type: 'object', properties: own, required });
  return { description: `The settings of the deployment. ${KEPT}`, ...made };
}

function route() {
  const { affinity } = schemas.SetRouteDto.properties;
  const revision = {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    examples: ['self'],
    description:
      '`self` means the revision of this `spec`; otherwise the id, number or name of a revision of this deployment',
  };
  const { weight } = schemas.RouteTargetDto.properties;
  const target = {
    type: 'object',
    additionalProperties: false,
    properties: { revision, weight: adapted(weight) },
    required: ['revision', 'weight'],
  };
  return {
    description: `Which revisions get the traffic after the rollout ends. ${KEPT} Without \`route\`, the traffic stays as the rollout left it.`,
    type: 'object',
    additionalProperties: false,
    properties: {
      revision: {
        ...revision,
        description: `The revision that gets all traffic. Set either this or \`targets\`. ${revision.description}`,
      },
      targets: {
        description: 'All shares of the route; their weights sum to 100. Set either this or `revision`',
        type: 'array',
        minItems: 1,
        maxItems: 32,
        items: target,
      },
      affinity: adapted(affinity),
    },
    not: { required: ['revision', 'targets'] },
  };
}

const of = (name, description) => ({ description, allOf: [adapted({ $ref: `/${name}` })] });
const orNull = ({ description, ...schema }) => ({ description, anyOf: [schema, { type: 'null' }] });

const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'A Slipway deployment, as a file for slipway apply',
  description: `A list replaces the list on the server. An item that changes nothing keeps the fields that the server filled in; any other item is used as written. ${KEPT}`,
  type: 'object',
  additionalProperties: false,
  properties: {
    $schema: { type: 'string', description: 'The address of this schema, for editors' },
    deployment: settings(),
    spec: of(
      'RevisionSpecDto',
      `The spec to run. If the active revision differs, a new revision is rolled out with \`strategy\` and \`gates\`. ${KEPT}`,
    ),
    strategy: orNull(
      of(
        'StrategyDto',
        `How a new spec is rolled out: the deployment's \`default_strategy\`. A different type starts from its own defaults. ${KEPT}`,
      ),
    ),
    gates: orNull(
      of('AnalysisDto', `The checks that a rollout must pass: the deployment's \`default_analysis\`. ${KEPT}`),
    ),
    route: route(),
    policy: of('SetPolicyDto', `The policy of continual optimization. Setting it requires the scope admin. ${KEPT}`),
  },
  required: ['deployment'],
};
schema.definitions = Object.fromEntries(Object.entries(definitions).sort(([one], [other]) => (one < other ? -1 : 1)));

const text = await format(JSON.stringify(schema), { ...(await resolveConfig(FILE)), parser: 'json' });
if (!process.argv.includes('--check')) writeFileSync(FILE, text);
else if (readFileSync(FILE, 'utf8') !== text) {
  console.error(
    'manifest.schema.json does not match libs/sdk/openapi.json. Run node apps/cli/src/declarative/make-schema.mjs',
  );
  process.exitCode = 1;
}
