/** A part of a JSON schema (draft 7), for editors. What it cannot say, the readers check. */
export type Schema = Record<string, unknown>;

/** Of a mapping. Its keys are those that the reader knows, so that the two cannot differ. */
export interface MappingSchema extends Schema {
  properties: Record<string, Schema>;
  required?: string[];
}

export const keysOf = ({ properties }: MappingSchema): string[] => Object.keys(properties);

const TEXT = { type: 'string', minLength: 1 };

export const TENANTS: Schema = {
  type: 'array',
  items: TEXT,
  description: "Names of tenants; '*' is all of them, default is the operator's",
};

export const ORIGIN: Schema = {
  type: 'string',
  pattern: '^https?://',
  description: 'scheme://host[:port]; the host may begin with `*.`, the port may be `*`',
};

export const ALLOW_ENTRY: MappingSchema = {
  type: 'object',
  additionalProperties: false,
  properties: { origin: ORIGIN, tenants: TENANTS },
  required: ['origin', 'tenants'],
};

export const ALLOW: Schema = { type: 'array', items: { anyOf: [ORIGIN, ALLOW_ENTRY] } };

export const SECRET: MappingSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    env: {
      type: 'string',
      pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$',
      description: 'Variable of the environment that holds it',
    },
    file: { ...TEXT, description: 'File that holds it; read again when it changes' },
    tenants: { ...TENANTS, description: "Who may use it; without it the operator's tenant alone" },
    origins: { type: 'array', items: ORIGIN, description: 'Where it may be sent' },
  },
  oneOf: [{ required: ['env'] }, { required: ['file'] }],
};
