import { BUILT_IN_SETTINGS } from './built-in-settings.js';
import { ABANDONED_TARGETS, SECRET_NAME, TARGET_KEYS, type TargetReader } from './operator-config.js';
import { OUTBOUND } from './outbound.js';
import { ACCELERATORS_SCHEMA } from './prices.js';
import { QUOTAS, type QuotaName } from './quotas.js';
import { RETENTION_SCHEMA } from './retention.js';
import { SECRET, type MappingSchema, type Schema } from './setting-schemas.js';

/** Builds the JSON schema (draft 7) of the operator's file for editors, from the schemas that the readers use. */
export function operatorSchema(readers: readonly TargetReader[]): Schema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'slipway.config.yaml',
    type: 'object',
    additionalProperties: false,
    properties: {
      defaults: {
        type: 'boolean',
        description:
          'Whether the file extends the built-in targets local (the simulator) and adopted (127.0.0.1, for the operator). Default: true, or false if NODE_ENV=production',
      },
      targets: {
        type: ['array', 'null'],
        items: targetSchema(readers),
        description: 'Execution targets, which run the model servers',
      },
      secrets: {
        type: ['object', 'null'],
        propertyNames: { pattern: SECRET_NAME.source },
        additionalProperties: SECRET,
        description: 'Secrets that revisions refer to with credential_ref or secret_ref',
      },
      outbound: OUTBOUND,
      quotas: {
        type: ['object', 'null'],
        additionalProperties: false,
        description: 'Quotas of each tenant',
        properties: {
          ...QUOTA_SCHEMAS,
          tenants: {
            type: ['object', 'null'],
            additionalProperties: { type: 'object', additionalProperties: false, properties: QUOTA_SCHEMAS },
            description: 'Quotas of single tenants, by tenant name; they replace the general ones',
          },
        },
      },
      retention: RETENTION_SCHEMA,
      abandoned_targets: ABANDONED_TARGETS,
      accelerators: ACCELERATORS_SCHEMA,
    },
  };
}

const QUOTA_SCHEMAS = Object.fromEntries(
  (Object.keys(QUOTAS) as QuotaName[]).map((name) => {
    const { min, max, description, ...rest } = QUOTAS[name];
    return [name, { type: 'integer', minimum: min, maximum: max, ...rest, description }];
  }),
);

/** A built-in target may be named in order to change a part of it; any other target must be complete. */
function targetSchema(readers: readonly TargetReader[]): Schema {
  const builtIn = BUILT_IN_SETTINGS.targets;
  const whole = readers.map((reader) => {
    const names = builtIn.flatMap(({ name, kind }) => (kind === reader.kind ? [name] : []));
    const isAnother = names.length > 0 && { name: { not: { enum: names } } };
    const isOne = { properties: { kind: { const: reader.kind }, ...isAnother }, required: ['kind'] };
    return { if: isOne, then: ofKind(reader) };
  });
  const changed = builtIn.flatMap(({ name, kind }) => {
    const reader = readers.find((one) => one.kind === kind);
    if (!reader) return [];
    const isOne = { properties: { kind: { const: kind }, name: { const: name } }, required: ['name'] };
    return [{ if: isOne, then: partOf(ofKind(reader)) }];
  });
  const isAnother = { properties: { name: { not: { enum: builtIn.map(({ name }) => name) } } } };
  return {
    type: 'object',
    properties: TARGET_KEYS.properties,
    required: ['name'],
    allOf: [
      { properties: { kind: { enum: readers.map(({ kind }) => kind) } } },
      { if: isAnother, then: { required: ['kind'] } },
      ...whole,
      ...changed,
    ],
  };
}

function ofKind({ schema }: TargetReader): MappingSchema {
  return {
    additionalProperties: false,
    properties: { ...TARGET_KEYS.properties, ...schema.properties },
    ...(schema.required ? { required: schema.required } : {}),
  };
}

/** The same schema for a value that is merged into another one: every key is optional, and null removes a key. */
export function partOf({ required: _, minProperties: _none, anyOf, ...schema }: Schema): Schema {
  const { properties, additionalProperties } = schema as Partial<MappingSchema>;
  return {
    ...schema,
    // Next to `properties`, `anyOf` only says which of them are required.
    ...(Array.isArray(anyOf) && properties === undefined && { anyOf: distinct((anyOf as Schema[]).map(partOf)) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, one]) => [key, orNull(one)])),
    }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: orNull(additionalProperties as Schema) }),
  };
}

const NULL: Schema = { type: 'null' };

function orNull(schema: Schema): Schema {
  const part = partOf(schema);
  const { anyOf, ...rest } = part;
  const isChoice = Array.isArray(anyOf) && Object.keys(rest).every((key) => key === 'description');
  return isChoice ? { ...rest, anyOf: distinct([...(anyOf as Schema[]), NULL]) } : { anyOf: [part, NULL] };
}

/** Some complete schemas equal their partial ones. */
function distinct(schemas: Schema[]): Schema[] {
  return [...new Map(schemas.map((one) => [JSON.stringify(one), one])).values()];
}
