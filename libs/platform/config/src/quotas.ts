import type { ConfigReader } from './config-reader.js';

/** One limit on what a tenant may have. Values are whole numbers from `min` to `max`. */
interface QuotaSpec {
  /** Absent for rates, whose default is four times the limit of a token, so that both follow one setting. */
  default?: number;
  min: number;
  max: number;
  description: string;
}

const COUNT = { min: 0, max: 100_000_000 };
const BYTES = { min: 0, max: 2 ** 50 };
const RATE = { min: 0, max: 1e9 };

/** Every quota, by its key in the operator's file. The documentation and a test are generated from this table. */
export const QUOTAS = {
  deployments: {
    ...COUNT,
    default: 1_000,
    description: 'Deployments of a tenant. Allow a few times the number of models that it serves',
  },
  revisions: {
    ...COUNT,
    min: 1,
    default: 1_000,
    description:
      'Stored revisions of one deployment. Allow more than the largest revision_history_limit plus the revisions that bindings pin, because old ones are removed only within minutes',
  },
  instances: {
    ...COUNT,
    default: 10_000,
    description:
      'Instances that the workloads of a tenant need on all targets, not counting instances that are only kept warm. Divide the capacity of the targets among the tenants',
  },
  tokens: {
    ...COUNT,
    min: 1,
    default: 1_000,
    description: 'Tokens of a tenant that are neither revoked nor expired. Allow one for each service and each person',
  },
  event_streams: {
    ...COUNT,
    default: 1_000,
    description: 'Open event streams of a tenant in one api process. Each costs a socket and some memory',
  },
  event_streams_per_token: {
    ...COUNT,
    default: 200,
    description: 'Open event streams of one token or person in one api process. A browser tab has one or two',
  },
  sandboxes: {
    ...COUNT,
    default: 1_000,
    description: 'Sandboxes of a tenant. Allow more than the number of agents that it runs at the same time',
  },
  sandbox_bytes: {
    ...BYTES,
    default: 2 ** 40,
    description: 'Bytes in all sandboxes of a tenant: its share of the disk or bucket of SLIPWAY_WORKSPACE_STORE',
  },
  sandbox_files: {
    ...COUNT,
    default: 100_000,
    description: 'Files in one sandbox, including empty ones, because each costs a row. A large source tree has 50,000',
  },
  sandbox_uploads: {
    ...COUNT,
    min: 1,
    default: 100,
    description:
      'Unfinished uploads into the sandboxes of a tenant, in all api processes. Each has a connection, and its bytes count in sandbox_bytes as they arrive',
  },
  context_passports: {
    ...COUNT,
    default: 1_000_000,
    description:
      'Session records of a tenant, kept until a week after they expire, about 1 kB each. Allow the sessions of two busy weeks',
  },
  webhooks: {
    ...COUNT,
    default: 20,
    description: 'Webhooks of a tenant. Each event is sent once to each webhook, so this limits the cost of one event',
  },
  webhook_deliveries: {
    ...COUNT,
    default: 100_000,
    description: 'Deliveries of a tenant that wait to be sent. Further events wait in their streams',
  },
  stored_bytes: {
    ...BYTES,
    default: 2 ** 34,
    description:
      'Bytes of a tenant in Postgres, its share of that disk: everything that its requests store, with 256 bytes more for each row. Records of requests, such as events and operations, may exceed it by a quarter, so that deletions and rollbacks still work',
  },
  plans: { ...COUNT, default: 10_000, description: 'Autopilot plans of a tenant, kept for a year after they expire' },
  policy_versions: {
    ...COUNT,
    default: 100_000,
    description:
      'Versions of the optimization policies of a tenant. The newest 100 of each deployment are kept, until it is deleted',
  },
  products: { ...COUNT, default: 1_000, description: 'Model API products of a tenant' },
  target_bindings: { ...COUNT, default: 10_000, description: 'Bindings of a tenant between products and targets' },
  publications: {
    ...COUNT,
    default: 100_000,
    description: 'Publications of a tenant. Of each product, the newest 100 that have ended are kept',
  },
  console_access: {
    ...COUNT,
    default: 10_000,
    description: 'Mappings of hosted identities of a tenant, including revoked ones. Allow one for each person',
  },
  sandbox_references: {
    ...COUNT,
    default: 10_000,
    description: 'References of a tenant to external sandboxes, including revoked ones',
  },
  idempotency_keys: {
    ...COUNT,
    default: 1_000_000,
    description:
      'Idempotency-Keys of a tenant with a stored answer, kept for thirty days. A request without a key needs none',
  },
  reads_per_minute: {
    ...RATE,
    description:
      'Reads per minute of a tenant in one api process; 0 = off. Default: four times SLIPWAY_RATE_LIMIT_READS',
  },
  mutations_per_minute: {
    ...RATE,
    description:
      'Mutations per minute of a tenant in one api process; 0 = off. Default: four times SLIPWAY_RATE_LIMIT_MUTATIONS',
  },
  inference_requests_per_minute: {
    ...RATE,
    description:
      'Inference requests per minute of a tenant in one gateway; 0 = off. Default: four times SLIPWAY_GATEWAY_RATE_LIMIT',
  },
  inference_concurrency: {
    ...RATE,
    max: 1e6,
    description:
      'Inference requests of a tenant in flight in one gateway; 0 = off. Default: four times SLIPWAY_GATEWAY_CONCURRENCY',
  },
} as const satisfies Record<string, QuotaSpec>;

export type QuotaName = keyof typeof QUOTAS;
export type Quotas = Record<QuotaName, number>;

/**
 * `quotas:` of the operator's file: the values for every tenant, and under `tenants` the values that replace them for
 * one tenant.
 */
export type QuotaSettings = Partial<Quotas> & { tenants?: Record<string, Partial<Quotas>> };

/** The part of `Config` from which quotas are computed. */
export interface QuotaConfig {
  operator: { quotas?: QuotaSettings };
  rateLimit: { readsPerMinute: number; mutationsPerMinute: number };
  gateway: { limits: { requestsPerMinute: number; maxConcurrencyPerToken: number } };
}

/** All tokens of a tenant together may be this many times as fast as one token. */
const TOKENS_AT_FULL_RATE = 4;

const NAMES = Object.keys(QUOTAS) as QuotaName[];

/**
 * Returns the quotas of a tenant: its own numbers, else those of the file, else the defaults. A rate of 0 means no
 * limit.
 */
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

/** Every request needs the quotas, and they change only with the operator's file. */
const workedOut = new WeakMap<QuotaConfig, { settings?: QuotaSettings; byTenant: Map<string, Quotas> }>();
const MAX_REMEMBERED = 10_000;

/** Whether a tenant has its own numbers, so that the name of the tenant must be known. */
export function hasQuotasByTenant({ operator }: Pick<QuotaConfig, 'operator'>): boolean {
  return Object.keys(operator.quotas?.tenants ?? {}).length > 0;
}

/** Reads `quotas:`; returns undefined if it is absent. Problems are added to the reader, by key path. */
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
