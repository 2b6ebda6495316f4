/** A part of a JSON schema (draft 7), for editors. The readers check rules that a schema cannot express. */
export type Schema = Record<string, unknown>;

/** The schema of a mapping. Its keys are those that the reader knows, so that the two cannot differ. */
export interface MappingSchema extends Schema {
  properties: Record<string, Schema>;
  required?: string[];
}

export const keysOf = ({ properties }: MappingSchema): string[] => Object.keys(properties);

const TEXT = { type: 'string', minLength: 1 };

export const TENANTS: Schema = {
  type: 'array',
  items: TEXT,
  description: "Names of tenants; '*' means all tenants, default is the operator's tenant",
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

/** A Secret of a cluster, with the names that Kubernetes accepts. */
export const SECRET_REFERENCE: MappingSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    name: {
      type: 'string',
      pattern: '^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$',
      description: 'Name of the Secret, in the namespace where the instance runs',
    },
    key: {
      type: 'string',
      pattern: '^[-_a-zA-Z0-9][-._a-zA-Z0-9]{0,252}$',
      description: 'Key in the data of the Secret',
    },
  },
  required: ['name', 'key'],
  description: 'A Secret for targets of kind kubernetes: passed to the engines there, never read by Slipway',
};

export const SECRET: MappingSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    env: {
      type: 'string',
      pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$',
      description: 'Environment variable that contains the secret',
    },
    file: { ...TEXT, description: 'File that contains the secret; read again when it changes' },
    kubernetes: SECRET_REFERENCE,
    tenants: { ...TENANTS, description: "Tenants that may use the secret. Default: only the operator's tenant" },
    origins: { type: 'array', items: ORIGIN, description: 'Origins that the secret may be sent to' },
  },
  oneOf: [
    { required: ['env'] },
    { required: ['file'] },
    // A secret of a cluster is passed to engines, and is sent nowhere else.
    { required: ['kubernetes'], not: { required: ['origins'] } },
  ],
};
