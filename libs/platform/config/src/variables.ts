import { proxyList } from '@slipway/platform-bounds';
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
  ports,
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
  /** True if the value must never be printed. */
  secret?: boolean;
  /** Throws an Error whose message completes "<NAME> …", e.g. "must be a whole number from 1 to 10". */
  parse(raw: string): T;
}

type VariableNote = { description: string; secret?: boolean };

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

/** Every variable that Slipway reads. Nothing else in the product reads `process.env`. */
export const SCHEMA = {
  nodeEnv: withDefault('NODE_ENV', 'development', oneOf('development', 'production', 'test'), {
    description: 'production rejects the embedded Postgres, a missing SLIPWAY_SECRET_KEY and SLIPWAY_PAUSE_POINT',
  }),
  home: withDefault('SLIPWAY_HOME', '.slipway', text, {
    description: 'data of the embedded stack: Postgres cluster, workspaces, bootstrap token',
  }),
  configFile: optional('SLIPWAY_CONFIG', text, {
    description:
      'file with execution targets and other operator settings, reloaded when it changes; default: slipway.config.yaml if it exists, else the built-in settings',
  }),
  host: withDefault('SLIPWAY_HOST', '127.0.0.1', host, { description: 'address that api and gateway listen on' }),
  apiPort: withDefault('SLIPWAY_API_PORT', '7070', whole(0, 65535), {
    description: 'port of the api; 0 = any free port',
  }),
  gatewayPort: withDefault('SLIPWAY_GATEWAY_PORT', '7080', whole(0, 65535), {
    description: 'port of the gateway; 0 = any free port',
  }),
  bootstrapToken: optional('SLIPWAY_BOOTSTRAP_TOKEN', token, {
    secret: true,
    description: 'admin token of the operator tenant `default`; `npm start` creates one and prints it once',
  }),
  databaseUrl: optional('DATABASE_URL', url('postgres', 'postgresql'), {
    secret: true,
    description: 'an external Postgres ≥ 14; default: the embedded Postgres of `npm start`',
  }),
  migrateDatabaseUrl: optional('SLIPWAY_MIGRATE_DATABASE_URL', url('postgres', 'postgresql'), {
    secret: true,
    description: 'login of the schema owner, for migrations; default: DATABASE_URL',
  }),
  gatewayDatabaseUrl: optional('SLIPWAY_GATEWAY_DATABASE_URL', url('postgres', 'postgresql'), {
    secret: true,
    description: "the gateway's own login; migrations create it or grant it access; default: DATABASE_URL",
  }),
  databasePool: withDefault('SLIPWAY_DATABASE_POOL', '10', whole(2, 1000), {
    description: 'connections to Postgres per process, in addition to those of the queue',
  }),
  queueBackend: optional('QUEUE_BACKEND', oneOf('postgres', 'redis'), {
    description: 'where BullMQ stores its jobs; default: redis if REDIS_URL is set, else postgres',
  }),
  redisUrl: optional('REDIS_URL', url('redis', 'rediss'), {
    secret: true,
    description: 'Redis ≥ 6.2 with maxmemory-policy noeviction',
  }),
  secretKey: optional('SLIPWAY_SECRET_KEY', key, {
    secret: true,
    description: 'key-encryption key, 32 bytes in base64; created by `npm start`, otherwise required',
  }),
  secretKeysOld: optional('SLIPWAY_SECRET_KEYS_OLD', keys, {
    secret: true,
    description: 'previous values of SLIPWAY_SECRET_KEY, separated by commas; they decrypt, but never encrypt',
  }),
  identityProvider: withDefault(
    'SLIPWAY_IDENTITY_PROVIDER',
    'oidc',
    (raw) => {
      if (!/^[a-z0-9][a-z0-9_.-]{0,62}$/.test(raw)) throw new Error('must be a short lower-case name');
      return raw;
    },
    { description: 'name of the hosted identity provider; there can be only one' },
  ),
  identityIssuer: optional('SLIPWAY_IDENTITY_ISSUER', url('http', 'https'), {
    description: "`iss` that the provider's tokens must have",
  }),
  identityAudience: optional('SLIPWAY_IDENTITY_AUDIENCE', text, {
    description: "`aud` that the provider's tokens must have",
  }),
  identityJwksUrl: optional('SLIPWAY_IDENTITY_JWKS_URL', url('http', 'https'), {
    description: "URL of the provider's public keys",
  }),
  identityClientId: optional('SLIPWAY_IDENTITY_CLIENT_ID', text, {
    description: 'client id of the console at the provider; if set, people sign in to the console through the provider',
  }),
  identityClientSecret: optional('SLIPWAY_IDENTITY_CLIENT_SECRET', text, {
    secret: true,
    description: 'client secret of the console; unset for a public client, which uses PKCE alone',
  }),
  console: withDefault('SLIPWAY_CONSOLE', 'on', oneOf('on', 'off'), {
    description: 'serves the console at / of the api; off disables its pages, sign-in and sessions',
  }),
  consoleFiles: optional('SLIPWAY_CONSOLE_FILES', text, {
    description: "folder of the console's built files; default: apps/console/dist of this installation",
  }),
  publicUrl: optional('SLIPWAY_PUBLIC_URL', origin, {
    description:
      'URL at which browsers reach the api, such as https://slipway.example; console sessions work only at its host; default: localhost and IP addresses',
  }),
  uploadMaxBytes: withDefault('SLIPWAY_UPLOAD_MAX_BYTES', String(100 * 2 ** 20), whole(1, 1024 * GIBIBYTE), {
    description: 'largest streamed sandbox file, in bytes',
  }),
  workspaceStore: optional('SLIPWAY_WORKSPACE_STORE', workspaceStore, {
    description: 'sandbox files: file:<folder> or s3://<bucket>/<prefix>; default: a folder under SLIPWAY_HOME',
  }),
  s3Endpoint: optional('SLIPWAY_S3_ENDPOINT', httpUrl, {
    description:
      'S3-compatible endpoint for an s3:// workspace store or audit anchor; default: AWS (credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)',
  }),
  s3Region: withDefault('SLIPWAY_S3_REGION', 'us-east-1', text, { description: 'region of an s3:// workspace store' }),
  auditAnchor: withDefault('SLIPWAY_AUDIT_ANCHOR', 'log', auditAnchor, {
    description:
      'where the heads of the audit chains are stored outside the database: log (lines at info), file:/<path> or s3://<bucket>/<prefix>',
  }),
  gatewayPublicUrl: optional('SLIPWAY_GATEWAY_PUBLIC_URL', httpUrl, {
    description: "gateway URL that catalog entries show; default: the gateway's own address",
  }),
  consoleGatewayUrl: optional('SLIPWAY_CONSOLE_GATEWAY_URL', httpUrl, {
    description:
      'URL at which the api reaches a gateway for the playground of the console; default: SLIPWAY_GATEWAY_PUBLIC_URL',
  }),
  leaseSeconds: withDefault('SLIPWAY_LEASE_SECONDS', '30', whole(1, 3600), {
    description: 'seconds until the lease of a worker on an operation expires unless it is renewed',
  }),
  logLevel: withDefault(
    'SLIPWAY_LOG_LEVEL',
    'info',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    { description: 'log level; the log is JSON lines on stderr' },
  ),
  gatewayRequestsPerMinute: withDefault('SLIPWAY_GATEWAY_RATE_LIMIT', '600000', whole(0, 1e9), {
    description: 'inference requests per minute and token; 0 = off',
  }),
  gatewayConcurrency: withDefault('SLIPWAY_GATEWAY_CONCURRENCY', '1000', whole(0, 1e6), {
    description: 'inference requests in flight per token; 0 = off',
  }),
  gatewayMaxBodyBytes: withDefault('SLIPWAY_GATEWAY_MAX_BODY_BYTES', '33554432', whole(1024, 1e9), {
    description: 'largest inference request, in bytes',
  }),
  gatewayHoldMaxRequests: withDefault('SLIPWAY_GATEWAY_HOLD_MAX_REQUESTS', '1000', whole(0, 1e6), {
    description:
      'requests of one deployment that may wait in one gateway until an instance serves them; twice that for a tenant, four times for all tenants',
  }),
  gatewayHoldMaxBytes: withDefault('SLIPWAY_GATEWAY_HOLD_MAX_BYTES', '67108864', whole(0, 1e10), {
    description: 'bytes in the bodies of these waiting requests, for a deployment, a tenant and all tenants likewise',
  }),
  gatewayDrainSeconds: withDefault('SLIPWAY_GATEWAY_DRAIN_SECONDS', '600', whole(0, 86_400), {
    description:
      'seconds that a stopping gateway waits for its requests before it ends them with an error; `npm start`: 10',
  }),
  gatewayPassedHeaders: optional('SLIPWAY_GATEWAY_PASSED_HEADERS', headerNames, {
    description:
      'client headers that are passed to the engines of deployments, separated by commas, in addition to accept, traceparent and tracestate',
  }),
  gatewayCorsOrigins: optional('SLIPWAY_GATEWAY_CORS_ORIGINS', origins, {
    description:
      'origins whose pages may call the gateway from a browser, separated by commas, such as https://app.example; default: none',
  }),
  rateLimitReads: withDefault('SLIPWAY_RATE_LIMIT_READS', '6000', whole(0, 1e9), {
    description: 'reads per minute and token; 0 = off',
  }),
  rateLimitMutations: withDefault('SLIPWAY_RATE_LIMIT_MUTATIONS', '1200', whole(0, 1e9), {
    description: 'mutations per minute and token; 0 = off',
  }),
  metricsPort: optional('SLIPWAY_METRICS_PORT', whole(0, 65535), {
    description:
      'serves /healthz, /readyz and /metrics on a separate port (`npm start`: api, worker and gateway use this port and the next two)',
  }),
  ownPorts: optional('SLIPWAY_OWN_PORTS', ports, {
    description:
      'further ports of this machine that outbound calls must not reach, separated by commas, in addition to the ports in other variables; `npm start` adds the metrics ports',
  }),
  metricsToken: optional('SLIPWAY_METRICS_TOKEN', text, {
    secret: true,
    description: 'bearer token that /metrics requires, on every port',
  }),
  trustedProxies: optional('SLIPWAY_TRUSTED_PROXIES', proxyList, {
    description:
      'addresses and networks of your proxies, separated by commas; X-Forwarded-For is trusted only from them',
  }),
  workerConcurrency: withDefault('SLIPWAY_WORKER_CONCURRENCY', '20', whole(1, 1000), {
    description: 'operations that one worker runs concurrently',
  }),
  pausePoint: optional('SLIPWAY_PAUSE_POINT', text, {
    description: 'tests only: named point at which a process stops and waits',
  }),
} as const;

type Schema = typeof SCHEMA;
export type Values = { -readonly [K in keyof Schema]: Schema[K] extends Variable<infer T> ? T : never };

/** Name, default and description of every variable, for documentation and for the test that compares them with docker/.env.example. */
export const VARIABLES: readonly { name: string; default?: string; description: string; secret?: boolean }[] =
  Object.values(SCHEMA).map((variable: Variable<unknown>) => ({
    name: variable.name,
    ...(variable.default === undefined ? {} : { default: variable.default }),
    description: variable.description,
    ...(variable.secret ? { secret: true } : {}),
  }));

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
      const shown = variable.secret ? '' : `, not ${JSON.stringify(raw)}`;
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
