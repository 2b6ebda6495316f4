import type { AllowEntry } from '@slipway/contracts';
import type { ConfigReader } from './config-reader.js';
import { ALLOW, type Schema } from './setting-schemas.js';

const PURPOSES = ['webhooks', 'suppliers', 'sandboxes'] as const;

/**
 * `outbound:` of the operator's file: the origins that the product may call in addition to its targets, by purpose. An
 * origin of one purpose is not allowed for another.
 */
export type Outbound = Partial<Record<(typeof PURPOSES)[number], AllowEntry[]>>;

export const OUTBOUND: Schema & { properties: Record<(typeof PURPOSES)[number], Schema> } = {
  type: ['object', 'null'],
  additionalProperties: false,
  description: 'Origins that Slipway may call in addition to targets, by purpose',
  properties: {
    webhooks: { ...ALLOW, description: 'Receivers of events, in addition to https URLs of public addresses' },
    suppliers: { ...ALLOW, description: 'Servers of suppliers whose models are published' },
    sandboxes: { ...ALLOW, description: 'External sandboxes' },
  },
};

/** Returns undefined if the section is absent. Problems are added to the reader, by key path. */
export function readOutbound(reader: ConfigReader, value: unknown): Outbound | undefined {
  if (value === undefined || value === null) return undefined;
  const bag = reader.map('outbound', value, PURPOSES);
  const given = PURPOSES.filter((purpose) => bag[purpose] !== undefined);
  return Object.fromEntries(given.map((purpose) => [purpose, reader.allow(`outbound.${purpose}`, bag[purpose])]));
}
