import type { ConfigReader } from './config-reader.js';
import { readAs } from './schema-reader.js';
import type { Schema } from './setting-schemas.js';

/** How long one kind of record is kept, in whole days. */
interface RetentionSpec {
  default: number;
  min: number;
  description: string;
}

const MAX_DAYS = 3_650;

/**
 * Every period of retention that an operator chooses, by its key in the file. The audit has none, because it is never
 * deleted.
 */
export const RETENTION = {
  events_days: {
    default: 90,
    min: 1,
    description:
      'Events, counted from the time they happened. Events that a stored operation, a subscription or a webhook still needs are kept longer, and so is the newest event of each stream',
  },
  operations_days: {
    default: 30,
    min: 1,
    description:
      'Operations and their Idempotency-Keys, counted from the end of the operation. A key that is used again later starts a new operation',
  },
  tokens_days: {
    default: 90,
    min: 1,
    description:
      'Tokens, counted from their revocation or expiry. Tokens that started a stored operation are kept longer, and so is the bootstrap token',
  },
  statistics_days: {
    default: 14,
    // The longest period that Autopilot reads; gates read shorter ones.
    min: 3,
    description: 'Request statistics of the gateways, which metrics, gates and Autopilot use',
  },
  usage_days: { default: 35, min: 1, description: 'Usage by token. The default is longer than the longest month' },
} as const satisfies Record<string, RetentionSpec>;

export type RetentionName = keyof typeof RETENTION;
export type Retention = Record<RetentionName, number>;

const SPECS = Object.entries(RETENTION) as [RetentionName, RetentionSpec][];
const DEFAULTS = Object.fromEntries(SPECS.map(([name, spec]) => [name, spec.default])) as Retention;

const DAYS = {
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(
    SPECS.map(([name, { min, default: fallback, description }]) => [
      name,
      { type: 'integer', minimum: min, maximum: MAX_DAYS, default: fallback, description },
    ]),
  ),
} satisfies Schema;

/** `retention:` of the file, for editors. */
export const RETENTION_SCHEMA: Schema = {
  ...DAYS,
  type: ['object', 'null'],
  description: 'Number of days that records are kept. The audit log is kept forever',
};

/** Returns undefined if the section is absent. Problems are added to the reader, by key path. */
export function readRetention(reader: ConfigReader, value: unknown): Partial<Retention> | undefined {
  if (value === undefined || value === null) return undefined;
  return readAs(reader, 'retention', value, DAYS) as Partial<Retention>;
}

/** Returns the days in effect: those of the file, else the defaults. */
export function retentionOf({ retention }: { retention?: Partial<Retention> }): Readonly<Retention> {
  return { ...DEFAULTS, ...retention };
}
