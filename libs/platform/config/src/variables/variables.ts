import { proxyList } from '@slipway/platform-bounds';
import { ALL, LIBRARY_VARIABLES, OF_AWS, OF_NO_PROCESS, SERVERS, type ProcessName } from './processes.js';
import {
  auditAnchor,
  headerNames,
  host,
  httpUrl,
  key,
  keys,
  oneOf,
  origin,
  origins,
  names,
  ports,
  proxyUrl,
  text,
  token,
  url,
  whole,
  workspaceStore,
} from './variable-texts.js';

/*
 * Not `@nestjs/config`: the gateway and the commands read the same variables without Nest, and every problem is
 * reported at once.
 */

/** One environment variable: its name, its default as written in the environment, and the parser of its text. */
export interface Variable<T> {
  name: string;
  default?: string;
  description: string;
  /** The processes that read it, and get it. No other process does. */
  processes: readonly ProcessName[];
  /** True if the value must never be printed. */
  secret?: boolean;
  /** True for a conventional name that other programs read too, so a program of the operator keeps it. */
  shared?: boolean;
  /** Throws an Error whose message completes "<NAME> …", e.g. "must be a whole number from 1 to 10". */
  parse(raw: string): T;
}

type VariableNote = Omit<Variable<unknown>, 'name' | 'default' | 'parse'>;

const withDefault = <T>(
  name: string,
  fallback: string,
  parse: (raw: string) => T,
  about: VariableNote,
): Variable<T> => ({ name, default: fallback, parse, ...about });

const optional = <T>(name: string, parse: (raw: string) => T, about: VariableNote): Variable<T | undefined> => ({
  name,
  parse,
  ...about,
});

const GIBIBYTE = 2 ** 30;

/**
 * Every variable that Slipway reads, and the processes that read it. Nothing else in the product reads `process.env`.
 * compose.yaml, the chart and `npm start` give each process what this table says; tests compare them.
 */
export const SCHEMA = {
  nodeEnv: withDefault('NODE_ENV', 'development', oneOf('development', 'production', 'test'), {
    shared: true,
    processes: ALL,
    description: 'production rejects the embedded Postgres, a missing SLIPWAY_SECRET_KEY and SLIPWAY_PAUSE_POINT',
  }),
  home: withDefault('SLIPWAY_HOME', '.slipway', text, {
    processes: ALL,
    description: 'data of the embedded stack: Postgres cluster, workspaces, bootstrap token',
  }),
  configFile: optional('SLIPWAY_CONFIG', text, {
    processes: ALL,
    description:
      'file with execution targets and other operator settings, reloaded when it changes; default: slipway.config.yaml if it exists, else the built-in settings',
  }),
  host: withDefault('SLIPWAY_HOST', '127.0.0.1', host, {
    processes: SERVERS,
    description: 'address that api and gateway listen on',
  }),
  apiPort: withDefault('SLIPWAY_API_PORT', '7070', whole(0, 65535), {
    processes: ['api'],
    description: 'port of the api; 0 = any free port',
  }),
  gatewayPort: withDefault('SLIPWAY_GATEWAY_PORT', '7080', whole(0, 65535), {
    processes: ['api', 'gateway'],
    description: 'port of the gateway; 0 = any free port',
  }),
  bootstrapToken: optional('SLIPWAY_BOOTSTRAP_TOKEN', token, {
    secret: true,
    processes: ['api'],
    description: 'admin token of the operator tenant `default`; `npm start` creates one and prints it once',
  }),
  databaseUrl: optional('DATABASE_URL', url('postgres', 'postgresql'), {
    secret: true,
    processes: ALL,
    description: 'an external Postgres ≥ 14; default: the embedded Postgres of `npm start`',
  }),
  migrateDatabaseUrl: optional('SLIPWAY_MIGRATE_DATABASE_URL', url('postgres', 'postgresql'), {
    secret: true,
    processes: ['migrate', 'tools'],
    description: 'login of the schema owner, for migrations; default: DATABASE_URL',
  }),
  gatewayDatabaseUrl: optional('SLIPWAY_GATEWAY_DATABASE_URL', url('postgres', 'postgresql'), {
    secret: true,
    processes: ['gateway', 'migrate', 'tools'],
    description: "the gateway's own login; migrations create it or grant it access; default: DATABASE_URL",
  }),
  databasePool: withDefault('SLIPWAY_DATABASE_POOL', '10', whole(2, 1000), {
    processes: ['api', 'worker', 'tools'],
    description: 'connections to Postgres per process, in addition to those of the queue',
  }),
  queueBackend: optional('QUEUE_BACKEND', oneOf('postgres', 'redis'), {
    processes: ['worker'],
    description: 'where BullMQ stores its jobs; default: redis if REDIS_URL is set, else postgres',
  }),
  redisUrl: optional('REDIS_URL', url('redis', 'rediss'), {
    secret: true,
    processes: ['worker'],
    description: 'Redis ≥ 6.2 with maxmemory-policy noeviction',
  }),
  secretKey: optional('SLIPWAY_SECRET_KEY', key, {
    secret: true,
    processes: [...SERVERS, 'tools'],
    description: 'key-encryption key, 32 bytes in base64; created by `npm start`, otherwise required',
  }),
  secretKeysOld: optional('SLIPWAY_SECRET_KEYS_OLD', keys, {
    secret: true,
    processes: [...SERVERS, 'tools'],
    description: 'previous values of SLIPWAY_SECRET_KEY, separated by commas; they decrypt, but never encrypt',
  }),
  identityProvider: withDefault(
    'SLIPWAY_IDENTITY_PROVIDER',
    'oidc',
    (raw) => {
      if (!/^[a-z0-9][a-z0-9_.-]{0,62}$/.test(raw)) throw new Error('must be a short lower-case name');
      return raw;
    },
    { processes: ['api'], description: 'name of the hosted identity provider; there can be only one' },
  ),
  identityIssuer: optional('SLIPWAY_IDENTITY_ISSUER', url('http', 'https'), {
    processes: ['api'],
    description: "`iss` that the provider's tokens must have",
  }),
  identityAudience: optional('SLIPWAY_IDENTITY_AUDIENCE', text, {
    processes: ['api'],
    description: "`aud` that the provider's tokens must have",
  }),
  identityJwksUrl: optional('SLIPWAY_IDENTITY_JWKS_URL', url('http', 'https'), {
    processes: ['api'],
    description: "URL of the provider's public keys",
  }),
  identityClientId: optional('SLIPWAY_IDENTITY_CLIENT_ID', text, {
    processes: ['api'],
    description: 'client id of the console at the provider; if set, people sign in to the console through the provider',
  }),
  identityClientSecret: optional('SLIPWAY_IDENTITY_CLIENT_SECRET', text, {
    secret: true,
    processes: ['api'],
    description: 'client secret of the console; unset for a public client, which uses PKCE alone',
  }),
  console: withDefault('SLIPWAY_CONSOLE', 'on', oneOf('on', 'off'), {
    processes: ['api'],
    description: 'serves the console at / of the api; off disables its pages, sign-in and sessions',
  }),
  consoleFiles: optional('SLIPWAY_CONSOLE_FILES', text, {
    processes: ['api'],
    description: "folder of the console's built files; default: apps/console/dist of this installation",
  }),
  publicUrl: optional('SLIPWAY_PUBLIC_URL', origin, {
    processes: ['api'],
    description:
      'URL at which browsers reach the api, such as https://slipway.example; console sessions work only at its host; default: localhost and IP addresses',
  }),
  uploadMaxBytes: withDefault('SLIPWAY_UPLOAD_MAX_BYTES', String(100 * 2 ** 20), whole(1, 1024 * GIBIBYTE), {
    processes: ['api'],
    description: 'largest streamed sandbox file, in bytes',
  }),
  workspaceStore: optional('SLIPWAY_WORKSPACE_STORE', workspaceStore, {
    processes: ['api', 'worker', 'tools'],
    description: 'sandbox files: file:<folder> or s3://<bucket>/<prefix>; default: a folder under SLIPWAY_HOME',
  }),
  s3Endpoint: optional('SLIPWAY_S3_ENDPOINT', httpUrl, {
    processes: ['api', 'worker'],
    description:
      'S3-compatible endpoint for an s3:// workspace store or audit anchor; default: AWS (credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)',
  }),
  s3Region: withDefault('SLIPWAY_S3_REGION', 'us-east-1', text, {
    processes: ['api', 'worker'],
    description: 'region of an s3:// workspace store',
  }),
  auditAnchor: withDefault('SLIPWAY_AUDIT_ANCHOR', 'log', auditAnchor, {
    processes: ['worker'],
    description:
      'where the heads of the audit chains are stored outside the database: log (lines at info), file:/<path> or s3://<bucket>/<prefix>',
  }),
  gatewayPublicUrl: optional('SLIPWAY_GATEWAY_PUBLIC_URL', httpUrl, {
    processes: ['api'],
    description: "gateway URL that catalog entries show; default: the gateway's own address",
  }),
  consoleGatewayUrl: optional('SLIPWAY_CONSOLE_GATEWAY_URL', httpUrl, {
    processes: ['api'],
    description:
      'URL at which the api reaches a gateway for the playground of the console; default: SLIPWAY_GATEWAY_PUBLIC_URL',
  }),
  leaseSeconds: withDefault('SLIPWAY_LEASE_SECONDS', '30', whole(1, 3600), {
    processes: ['api', 'worker'],
    description: 'seconds until the lease of a worker on an operation expires unless it is renewed',
  }),
  logLevel: withDefault(
    'SLIPWAY_LOG_LEVEL',
    'info',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    { processes: [...SERVERS, 'migrate'], description: 'log level; the log is JSON lines on stderr' },
  ),
  gatewayRequestsPerMinute: withDefault('SLIPWAY_GATEWAY_RATE_LIMIT', '600000', whole(0, 1e9), {
    processes: ['gateway'],
    description: 'inference requests per minute and token; 0 = off',
  }),
  gatewayConcurrency: withDefault('SLIPWAY_GATEWAY_CONCURRENCY', '1000', whole(0, 1e6), {
    processes: ['gateway'],
    description: 'inference requests in flight per token; 0 = off',
  }),
  gatewayMaxBodyBytes: withDefault('SLIPWAY_GATEWAY_MAX_BODY_BYTES', '33554432', whole(1024, 1e9), {
    processes: ['api', 'gateway'],
    description: 'largest inference request, in bytes',
  }),
  gatewayHoldMaxRequests: withDefault('SLIPWAY_GATEWAY_HOLD_MAX_REQUESTS', '1000', whole(0, 1e6), {
    processes: ['gateway'],
    description:
      'requests of one deployment that may wait in one gateway until an instance serves them; twice that for a tenant, four times for all tenants',
  }),
  gatewayHoldMaxBytes: withDefault('SLIPWAY_GATEWAY_HOLD_MAX_BYTES', '67108864', whole(0, 1e10), {
    processes: ['gateway'],
    description: 'bytes in the bodies of these waiting requests, for a deployment, a tenant and all tenants likewise',
  }),
  gatewayDrainSeconds: withDefault('SLIPWAY_GATEWAY_DRAIN_SECONDS', '600', whole(0, 86_400), {
    processes: ['gateway'],
    description:
      'seconds that a stopping gateway waits for its requests before it ends them with an error; `npm start`: 10',
  }),
  gatewayPassedHeaders: optional('SLIPWAY_GATEWAY_PASSED_HEADERS', headerNames, {
    processes: ['gateway'],
    description:
      'client headers that are passed to the engines of deployments, separated by commas, in addition to accept, traceparent and tracestate',
  }),
  gatewayCorsOrigins: optional('SLIPWAY_GATEWAY_CORS_ORIGINS', origins, {
    processes: ['gateway'],
    description:
      'origins whose pages may call the gateway from a browser, separated by commas, such as https://app.example; default: none',
  }),
  rateLimitReads: withDefault('SLIPWAY_RATE_LIMIT_READS', '6000', whole(0, 1e9), {
    processes: ['api'],
    description: 'reads per minute and token; 0 = off',
  }),
  rateLimitMutations: withDefault('SLIPWAY_RATE_LIMIT_MUTATIONS', '1200', whole(0, 1e9), {
    processes: ['api'],
    description: 'mutations per minute and token; 0 = off',
  }),
  metricsPort: optional('SLIPWAY_METRICS_PORT', whole(0, 65535), {
    processes: SERVERS,
    description:
      'serves /healthz, /readyz and /metrics on a separate port (`npm start`: api, worker and gateway use this port and the next two)',
  }),
  ownPorts: optional('SLIPWAY_OWN_PORTS', ports, {
    processes: SERVERS,
    description:
      'further ports of this machine that outbound calls must not reach, separated by commas, in addition to the ports in other variables; `npm start` adds the metrics ports',
  }),
  metricsToken: optional('SLIPWAY_METRICS_TOKEN', text, {
    secret: true,
    processes: SERVERS,
    description: 'bearer token that /metrics requires, on every port',
  }),
  httpProxy: optional('HTTP_PROXY', proxyUrl, {
    shared: true,
    processes: SERVERS,
    description:
      'proxy for webhooks, suppliers and external sandboxes with http URLs; engines are never called through it',
  }),
  httpsProxy: optional('HTTPS_PROXY', proxyUrl, {
    shared: true,
    processes: SERVERS,
    description: 'the same for https URLs, and for the identity provider',
  }),
  noProxy: optional('NO_PROXY', names, {
    shared: true,
    processes: SERVERS,
    description: 'hosts, domains, addresses and networks that are called without a proxy, separated by commas; * = all',
  }),
  trustedProxies: optional('SLIPWAY_TRUSTED_PROXIES', proxyList, {
    processes: ['api', 'gateway'],
    description:
      'addresses and networks of your proxies, separated by commas; X-Forwarded-For is trusted only from them',
  }),
  workerConcurrency: withDefault('SLIPWAY_WORKER_CONCURRENCY', '20', whole(1, 1000), {
    processes: ['worker'],
    description: 'operations that one worker runs concurrently',
  }),
  pausePoint: optional('SLIPWAY_PAUSE_POINT', text, {
    processes: ['api', 'worker'],
    description: 'tests only: named point at which a process stops and waits',
  }),
} as const;

type Schema = typeof SCHEMA;
export type Values = { -readonly [K in keyof Schema]: Schema[K] extends Variable<infer T> ? T : never };

/** A row of the table without its parser, for documentation and for tests. */
export type VariableRow = Omit<Variable<unknown>, 'parse'>;

export const VARIABLES: readonly VariableRow[] = Object.values(SCHEMA).map((variable: Variable<unknown>) => ({
  name: variable.name,
  ...(variable.default === undefined ? {} : { default: variable.default }),
  description: variable.description,
  processes: variable.processes,
  ...(variable.secret ? { secret: true } : {}),
  ...(variable.shared ? { shared: true } : {}),
}));

/** The rows of Slipway and of the libraries in it. */
export const ALL_VARIABLES: readonly VariableRow[] = [...VARIABLES, ...LIBRARY_VARIABLES];

/** The processes that read a variable, or undefined for a variable that Slipway does not know, such as PATH. */
function readersOf(name: string): readonly ProcessName[] | undefined {
  if (OF_NO_PROCESS.has(name)) return [];
  if (OF_AWS.names.test(name)) return OF_AWS.processes;
  return ALL_VARIABLES.find((variable) => variable.name === name)?.processes;
}

/**
 * Returns the environment of a process: without the variables that only other processes read, and without these
 * secrets. Variables that Slipway does not know, such as PATH, stay.
 * @param secrets the names that `secretNames` returns for the operator's file; api and worker read them
 */
export function environmentOf(
  process: ProcessName,
  env: NodeJS.ProcessEnv,
  secrets: readonly string[],
): NodeJS.ProcessEnv {
  const hidden = new Set(process === 'api' || process === 'worker' ? [] : secrets);
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !hidden.has(name) && (readersOf(name)?.includes(process) ?? true)),
  );
}

/** Whether Slipway, or a library in it, reads this variable: it must not be declared as a secret for anything else. */
export const isOwnVariable = (name: string): boolean => readersOf(name) !== undefined && !OF_AWS.names.test(name);

const SHARED = new Set(VARIABLES.filter(({ shared }) => shared).map(({ name }) => name));

/** Whether a program that the operator chose must not get this variable. */
export const isPrivateVariable = (name: string): boolean => isOwnVariable(name) && !SHARED.has(name);

/**
 * Parses every variable. An empty value counts as unset, because compose files pass unset variables that way. A
 * variable with a problem stays undefined.
 */
export function readVariables(env: NodeJS.ProcessEnv): { values: Values; problems: string[] } {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [field, variable] of Object.entries(SCHEMA) as [string, Variable<unknown>][]) {
    const raw = env[variable.name]?.trim() || variable.default;
    if (raw === undefined) continue;
    try {
      values[field] = variable.parse(raw);
    } catch (error) {
      // The URL of a proxy may have a password.
      const shown = variable.secret || raw.includes('@') ? '' : `, not ${JSON.stringify(raw)}`;
      problems.push(`${variable.name} ${(error as Error).message}${shown}`);
    }
  }
  return { values: values as Values, problems };
}

/** Returns the problems of the variables of the hosted identity provider, taken together. */
export function identityVariableProblems(env: NodeJS.ProcessEnv, values: Values, production: boolean): string[] {
  const names = ['SLIPWAY_IDENTITY_ISSUER', 'SLIPWAY_IDENTITY_AUDIENCE', 'SLIPWAY_IDENTITY_JWKS_URL'];
  const missing = names.filter((name) => !env[name]?.trim());
  const problems =
    missing.length > 0 && missing.length < names.length
      ? missing.map((name) => `${name} is required if the other SLIPWAY_IDENTITY_ variables are set`)
      : [];
  // An attacker who can change the keys in transit can sign in as any user.
  if (production && isInTheOpen(values.identityJwksUrl))
    problems.push('SLIPWAY_IDENTITY_JWKS_URL must use https when NODE_ENV=production');
  if (production && values.identityClientId && isInTheOpen(values.identityIssuer))
    problems.push(
      'SLIPWAY_IDENTITY_ISSUER must use https when NODE_ENV=production: sign-in codes and secrets are sent there',
    );
  if (values.identityClientId && missing.length > 0)
    problems.push('SLIPWAY_IDENTITY_CLIENT_ID requires the other SLIPWAY_IDENTITY_ variables');
  if (values.identityClientSecret && !values.identityClientId)
    problems.push('SLIPWAY_IDENTITY_CLIENT_ID is required if SLIPWAY_IDENTITY_CLIENT_SECRET is set');
  if (values.identityClientId && !values.publicUrl)
    problems.push(
      'SLIPWAY_PUBLIC_URL is required if SLIPWAY_IDENTITY_CLIENT_ID is set: the provider redirects browsers there after sign-in',
    );
  return problems;
}

/** Whether requests to this address can be read in transit. */
function isInTheOpen(address: string | undefined): boolean {
  const url = address === undefined ? undefined : new URL(address);
  return url?.protocol === 'http:' && !['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);
}
