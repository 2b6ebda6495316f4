import type { ConfigReader } from './config-reader.js';

/** One bound on what a tenant may have. Values are whole numbers from `min` to `max`. */
interface QuotaSpec {
  /** Absent for rates: four times what a token may, so that both follow one setting. */
  default?: number;
  min: number;
  max: number;
  description: string;
}

const COUNT = { min: 0, max: 100_000_000 };
const BYTES = { min: 0, max: 2 ** 50 };
const RATE = { min: 0, max: 1e9 };

/** Every quota there is, by its key in the operator's file. Documentation and a test are made from it. */
export const QUOTAS = {
  deployments: { ...COUNT, default: 1_000, description: 'deployments of a tenant; a few times the models it serves' },
  revisions: {
    ...COUNT,
    min: 1,
    default: 1_000,
    description:
      'revisions kept of one deployment; more than the largest revision_history_limit and what bindings pin, for old ones leave within minutes',
  },
  instances: {
    ...COUNT,
    default: 10_000,
    description:
      'instances that the workloads of a tenant need on all targets, what is only kept warm not counted; what the targets have room for, shared out',
  },
  tokens: {
    ...COUNT,
    min: 1,
    default: 1_000,
    description: 'tokens of a tenant that are neither revoked nor expired; one for each service and person that calls',
  },
  event_streams: {
    ...COUNT,
    default: 1_000,
    description: 'event streams of a tenant open in one api process; an open stream costs a socket and some memory',
  },
  event_streams_per_token: {
    ...COUNT,
    default: 200,
    description: 'event streams of one token or person open in one api process; a browser tab has one or two',
  },
  sandboxes: { ...COUNT, default: 1_000, description: 'sandboxes of a tenant; more than the agents it runs at a time' },
  sandbox_bytes: {
    ...BYTES,
    default: 2 ** 40,
    description: 'bytes in all sandboxes of a tenant; its share of the disk or bucket behind SLIPWAY_WORKSPACE_STORE',
  },
  sandbox_files: {
    ...COUNT,
    default: 100_000,
    description: 'files in one sandbox, empty ones too, for each costs a row; a large source tree has 50,000',
  },
  context_passports: {
    ...COUNT,
    default: 1_000_000,
    description:
      'records of sessions of a tenant, kept until a week after they expire, about 1 kB each; the sessions of a busy fortnight',
  },
  webhooks: {
    ...COUNT,
    default: 20,
    description: 'webhooks of a tenant; each event is sent once for each, so this bounds what one event costs',
  },
  webhook_deliveries: {
    ...COUNT,
    default: 100_000,
    description: 'deliveries of a tenant that wait to be sent; further events wait in their streams',
  },
  reads_per_minute: {
    ...RATE,
    description: 'reads of a tenant in one api process, 0 = off; unset: four times SLIPWAY_RATE_LIMIT_READS',
  },
  mutations_per_minute: {
    ...RATE,
    description: 'mutations of a tenant in one api process, 0 = off; unset: four times SLIPWAY_RATE_LIMIT_MUTATIONS',
  },
  inference_requests_per_minute: {
    ...RATE,
    description: 'inference requests of a tenant in one gateway, 0 = off; unset: four times SLIPWAY_GATEWAY_RATE_LIMIT',
  },
  inference_concurrency: {
    ...RATE,
    max: 1e6,
    description:
      'inference requests of a tenant in flight in one gateway, 0 = off; unset: four times SLIPWAY_GATEWAY_CONCURRENCY',
  },
} as const satisfies Record<string, QuotaSpec>;

export type QuotaName = keyof typeof QUOTAS;
export type Quotas = Record<QuotaName, number>;

/** `quotas:` of the operator's file: what holds for every tenant, and what holds for one instead. */
export type QuotaSettings = Partial<Quotas> & { tenants?: Record<string, Partial<Quotas>> };

/** The part of `Config` that quotas are made of. */
export interface QuotaConfig {
  operator: { quotas?: QuotaSettings };
  rateLimit: { readsPerMinute: number; mutationsPerMinute: number };
  gateway: { limits: { requestsPerMinute: number; maxConcurrencyPerToken: number } };
}

/** How much faster than one token all tokens of a tenant together may be. */
const TOKENS_AT_FULL_RATE = 4;

const NAMES = Object.keys(QUOTAS) as QuotaName[];

/** What a tenant may have: its own numbers, else those of the file, else the defaults. A rate of 0 is off. */
export function quotasOf(config: QuotaConfig, tenantName: string): Readonly<Quotas> {
  const settings = config.operator.quotas;
  const last = workedOut.get(config);
  const byTenant = last && last.settings === settings ? last.byTenant : new Map<string, Quotas>();
  const known = byTenant.get(tenantName);
  if (known) return known;
  const { tenants = {}, ...everybody } = settings ?? {};
  const own = Object.hasOwn(tenants, tenantName) ? tenants[tenantName] : {};
  const quotas = { ...DEFAULTS, ...ratesOf(config), ...everybody, ...own } as Quotas;
  if (byTenant.size >= MAX_REMEMBERED) byTenant.clear();
  byTenant.set(tenantName, quotas);
  workedOut.set(config, { settings, byTenant });
  return quotas;
}

/** It is asked for at every request, and changes with the operator's file only. */
const workedOut = new WeakMap<QuotaConfig, { settings?: QuotaSettings; byTenant: Map<string, Quotas> }>();
const MAX_REMEMBERED = 10_000;

/** Whether some tenant has numbers of its own, so that its name has to be known. */
export function hasQuotasByTenant({ operator }: Pick<QuotaConfig, 'operator'>): boolean {
  return Object.keys(operator.quotas?.tenants ?? {}).length > 0;
}

/** Reads `quotas:`; an absent one is undefined. Problems go to the reader, by key path. */
export function readQuotas(reader: ConfigReader, value: unknown): QuotaSettings | undefined {
  if (value === undefined || value === null) return undefined;
  const { tenants, ...everybody } = reader.map('quotas', value, [...NAMES, 'tenants']);
  const settings: QuotaSettings = readNumbers(reader, 'quotas', everybody);
  if (tenants === undefined || tenants === null) return settings;
  settings.tenants = Object.fromEntries(
    Object.entries(reader.map('quotas.tenants', tenants)).map(([name, numbers]) => {
      const path = `quotas.tenants.${name}`;
      return [name, readNumbers(reader, path, reader.map(path, numbers, NAMES))];
    }),
  );
  return settings;
}

function readNumbers(reader: ConfigReader, path: string, bag: Record<string, unknown>): Partial<Quotas> {
  const known = NAMES.filter((name) => bag[name] !== undefined);
  return Object.fromEntries(
    known.map((name) => [name, reader.whole(`${path}.${name}`, bag[name], QUOTAS[name].min, QUOTAS[name].max)]),
  );
}

const DEFAULTS = Object.fromEntries(
  NAMES.flatMap((name) => {
    const { default: fallback }: QuotaSpec = QUOTAS[name];
    return fallback === undefined ? [] : [[name, fallback]];
  }),
);

function ratesOf({ rateLimit, gateway: { limits } }: QuotaConfig): Partial<Quotas> {
  return {
    reads_per_minute: TOKENS_AT_FULL_RATE * rateLimit.readsPerMinute,
    mutations_per_minute: TOKENS_AT_FULL_RATE * rateLimit.mutationsPerMinute,
    inference_requests_per_minute: TOKENS_AT_FULL_RATE * limits.requestsPerMinute,
    inference_concurrency: TOKENS_AT_FULL_RATE * limits.maxConcurrencyPerToken,
  };
}
