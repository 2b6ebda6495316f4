import type { ConfigReader } from './config-reader.js';
import { readAs } from './schema-reader.js';
import type { Schema } from './setting-schemas.js';

export interface Money {
  amount: number;
  /** ISO 4217. */
  currency: string;
}

/** The operator's settings of one accelerator. */
export interface AcceleratorConfig {
  /** For one device. */
  price_per_hour: Money;
}

/** `accelerators:` of the operator's file, by the name that revisions use in `resources.accelerator`. */
export type Accelerators = Record<string, AcceleratorConfig>;

/** The part of `Config` from which prices are read. */
export interface PriceConfig {
  operator: { accelerators?: Accelerators };
}

const MAX_ACCELERATORS = 100;
const MAX_AMOUNT = 1_000_000_000;
/** Amounts are rounded to millionths, so that 3 x 0.8 is shown as 2.4. */
const PARTS = 1_000_000;

const ACCELERATOR = {
  type: 'object',
  additionalProperties: false,
  required: ['price_per_hour'],
  properties: {
    price_per_hour: {
      type: 'object',
      additionalProperties: false,
      required: ['amount', 'currency'],
      description: 'Price of one device for one hour',
      properties: {
        amount: { type: 'number', minimum: 0, maximum: MAX_AMOUNT },
        currency: {
          type: 'string',
          pattern: '^[A-Z]{3}$',
          description: 'ISO 4217, such as EUR; the same for all accelerators',
        },
      },
    },
  },
} satisfies Schema;

const ACCELERATORS = {
  type: 'object',
  maxProperties: MAX_ACCELERATORS,
  // At most as long as `resources.accelerator` of a revision, and without spaces at the ends.
  propertyNames: { pattern: '^\\S(.{0,61}\\S)?$' },
  additionalProperties: ACCELERATOR,
} satisfies Schema;

/** `accelerators:` of the file, for editors. */
export const ACCELERATORS_SCHEMA: Schema = {
  ...ACCELERATORS,
  type: ['object', 'null'],
  description: 'Prices of accelerators, by the name that revisions use in resources.accelerator',
};

/** Returns undefined if the section is absent. Problems are added to the reader, by key path. */
export function readAccelerators(reader: ConfigReader, value: unknown): Accelerators | undefined {
  if (value === undefined || value === null) return undefined;
  const problemsBefore = reader.problems.length;
  const accelerators = readAs(reader, 'accelerators', value, ACCELERATORS) as Accelerators;
  // An incomplete entry has no currency to compare.
  if (reader.problems.length === problemsBefore) refuseOtherCurrencies(reader, accelerators);
  return accelerators;
}

/** Costs are added up and compared with limits, and there is no exchange rate. */
function refuseOtherCurrencies(reader: ConfigReader, accelerators: Accelerators): void {
  const [first, ...others] = Object.entries(accelerators);
  if (!first) return;
  const [name, { price_per_hour: price }] = first;
  for (const [other, { price_per_hour: another }] of others)
    if (another.currency !== price.currency)
      reader.fail(
        `accelerators.${other}.price_per_hour.currency`,
        `must be ${price.currency}, the currency of ${name}, not ${another.currency}: all prices of one installation have the same currency`,
      );
}

/** Returns the price of one device for one hour; null if the operator's file has none. */
export function priceOf({ operator: { accelerators = {} } }: PriceConfig, accelerator?: string | null): Money | null {
  if (typeof accelerator !== 'string' || !Object.hasOwn(accelerators, accelerator)) return null;
  return accelerators[accelerator]?.price_per_hour ?? null;
}

/** Multiplies an amount, for example the price of an hour by devices or by hours. */
export function multiplyMoney({ amount, currency }: Money, factor: number): Money {
  return { amount: Math.round(amount * factor * PARTS) / PARTS, currency };
}
