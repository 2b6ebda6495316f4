import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { DEFAULT_OPERATOR_CONFIG } from './default-operator-config.js';
import { OperatorConfigError, parseOperatorConfig, type OperatorConfig, type TargetReader } from './operator-config.js';
import { readStackFile, type StackFile } from './stack-file.js';
import { readVariables, type Values } from './variables.js';

/** Nest token of the checked configuration: `@Inject(CONFIG) config: Config`. */
export const CONFIG: unique symbol = Symbol('slipway.config');

/** Everything a process is told from outside, checked. Read once at boot; immutable afterwards. */
export interface Config {
  env: 'development' | 'production' | 'test';
  /** Absolute. */
  home: string;
  host: string;
  /** 0 = any free port. */
  apiPort: number;
  gatewayPort: number;
  /** `embedded`: found through the stack file of `npm start`, not through DATABASE_URL. `poolSize`: connections per process. */
  database: { url: string; migrateUrl: string; embedded: boolean; poolSize: number };
  queue: { backend: 'postgres' | 'redis'; redisUrl?: string };
  /** 32 bytes: the key-encryption key. */
  secretKey: Buffer;
  bootstrapToken?: string;
  /** `issuer`, `audience` and `jwksUrl` are all set or all unset (no hosted sign-in). */
  identity: { provider: string; issuer?: string; audience?: string; jwksUrl?: string };
  /** `workspaceStore`: `file:<absolute folder>` or `s3://bucket/prefix`. */
  upload: { maxBytes: number; workspaceStore: string; s3: { endpoint?: string; region: string } };
  /** `limits` are per token, but for the size of a request. */
  gateway: {
    publicUrl: string;
    limits: { requestsPerMinute: number; maxConcurrencyPerToken: number; maxBodyBytes: number };
  };
  leaseSeconds: number;
  logLevel: string;
  /** Per token; 0 = off. */
  rateLimit: { readsPerMinute: number; mutationsPerMinute: number };
  metricsPort?: number;
  metricsToken?: string;
  worker: { concurrency: number };
  operator: OperatorConfig;
  pausePoint?: string;
}

export class ConfigError extends Error {
  constructor(readonly problems: string[]) {
    super(
      `Slipway cannot start: ${problems.length === 1 ? '1 problem' : `${problems.length} problems`} in its configuration.\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

/** sysexits.h EX_CONFIG: supervisors can tell a wrong configuration from a crash. */
export const EXIT_CONFIG = 78;

export interface LoadOptions {
  /** Stands in for `<home>/run/stack.json`, for the launcher that is about to write it. */
  stack?: StackFile;
  /** The kinds of execution targets there are. Without them the operator's targets are not read. */
  targets?: readonly TargetReader[];
}

/**
 * Reads and checks all configuration.
 * @throws ConfigError listing every problem by the variable's name.
 */
export function loadConfig(env: NodeJS.ProcessEnv, cwd: string, options: LoadOptions = {}): Config {
  const { values, problems } = readVariables(env);
  const home = path.resolve(cwd, values.home ?? '.slipway');
  const isSet = (name: string): boolean => Boolean(env[name]?.trim());

  const production = values.nodeEnv === 'production';
  let stack: StackFile | undefined;
  if (production && !isSet('DATABASE_URL'))
    problems.push('DATABASE_URL is required when NODE_ENV=production: the embedded Postgres is not for production');
  if (!production && !isSet('DATABASE_URL')) {
    stack = options.stack ?? readStackFile(home);
    if (!stack)
      problems.push(
        `DATABASE_URL is not set and no embedded Postgres runs under ${home}: run \`npm start\`, or set DATABASE_URL`,
      );
  }
  // With an external database the key has no file to come from; without any database that problem is enough.
  if (!isSet('SLIPWAY_SECRET_KEY') && (production || isSet('DATABASE_URL')) && !options.stack) {
    problems.push('SLIPWAY_SECRET_KEY is required (32 bytes in base64, e.g. the output of `openssl rand -base64 32`)');
  }
  if (production && !isSet('SLIPWAY_SECRET_KEY') && options.stack)
    problems.push('SLIPWAY_SECRET_KEY is required when NODE_ENV=production');
  if (production && values.pausePoint)
    problems.push('SLIPWAY_PAUSE_POINT is for tests and is refused when NODE_ENV=production');
  problems.push(...identityProblems(env, values, production));
  if (values.queueBackend === 'redis' && !isSet('REDIS_URL'))
    problems.push('REDIS_URL is required when QUEUE_BACKEND=redis');
  if (values.apiPort && values.apiPort === values.gatewayPort)
    problems.push('SLIPWAY_GATEWAY_PORT must differ from SLIPWAY_API_PORT');

  const operator = loadOperatorConfig(values.configFile, cwd, options.targets, problems);
  if (problems.length > 0) throw new ConfigError(problems);

  const url = values.databaseUrl ?? stack?.databaseUrl ?? '';
  return {
    env: values.nodeEnv,
    home,
    host: values.host,
    apiPort: values.apiPort,
    gatewayPort: values.gatewayPort,
    database: {
      url,
      migrateUrl: values.migrateDatabaseUrl ?? stack?.migrateUrl ?? url,
      embedded: stack !== undefined,
      poolSize: values.databasePool,
    },
    queue: {
      backend: values.queueBackend ?? (values.redisUrl ? 'redis' : 'postgres'),
      ...(values.redisUrl ? { redisUrl: values.redisUrl } : {}),
    },
    secretKey: values.secretKey ?? Buffer.from(stack?.secretKey ?? options.stack?.secretKey ?? '', 'base64'),
    bootstrapToken: values.bootstrapToken,
    identity: {
      provider: values.identityProvider,
      issuer: values.identityIssuer,
      audience: values.identityAudience,
      jwksUrl: values.identityJwksUrl,
    },
    upload: {
      maxBytes: values.uploadMaxBytes,
      workspaceStore: absoluteStore(values.workspaceStore, home),
      s3: { endpoint: values.s3Endpoint, region: values.s3Region },
    },
    gateway: {
      publicUrl: values.gatewayPublicUrl ?? addressOf(values.host, values.gatewayPort),
      limits: {
        requestsPerMinute: values.gatewayRequestsPerMinute,
        maxConcurrencyPerToken: values.gatewayConcurrency,
        maxBodyBytes: values.gatewayMaxBodyBytes,
      },
    },
    leaseSeconds: values.leaseSeconds,
    logLevel: values.logLevel,
    rateLimit: { readsPerMinute: values.rateLimitReads, mutationsPerMinute: values.rateLimitMutations },
    metricsPort: values.metricsPort,
    metricsToken: values.metricsToken,
    worker: { concurrency: values.workerConcurrency },
    operator,
    pausePoint: values.pausePoint,
  };
}

/** For entry points: every problem on stderr, then exit 78. */
export function loadConfigOrExit(options: LoadOptions = {}): Config {
  try {
    return loadConfig(process.env, process.cwd(), options);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(EXIT_CONFIG);
  }
}

/** Where a client on this machine reaches a server that listens on `host`. A wildcard address is shown as loopback. */
export function addressOf(host: string, port: number): string {
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}

function identityProblems(env: NodeJS.ProcessEnv, values: Values, production: boolean): string[] {
  const names = ['SLIPWAY_IDENTITY_ISSUER', 'SLIPWAY_IDENTITY_AUDIENCE', 'SLIPWAY_IDENTITY_JWKS_URL'];
  const missing = names.filter((name) => !env[name]?.trim());
  const problems =
    missing.length > 0 && missing.length < names.length
      ? missing.map((name) => `${name} is required where the other SLIPWAY_IDENTITY_ variables are set`)
      : [];
  const keys = values.identityJwksUrl ? new URL(values.identityJwksUrl) : undefined;
  // Whoever can change the keys in transit can sign in as anybody.
  if (production && keys?.protocol === 'http:' && !['127.0.0.1', 'localhost', '[::1]'].includes(keys.hostname)) {
    problems.push('SLIPWAY_IDENTITY_JWKS_URL must use https when NODE_ENV=production');
  }
  return problems;
}

function loadOperatorConfig(
  configured: string | undefined,
  cwd: string,
  readers: readonly TargetReader[] | undefined,
  problems: string[],
): OperatorConfig {
  const file = path.resolve(cwd, configured ?? 'slipway.config.yaml');
  if (!configured && !existsSync(file)) return parseOperatorConfig(DEFAULT_OPERATOR_CONFIG, readers);
  try {
    return parseOperatorConfig(readFileSync(file, 'utf8'), readers);
  } catch (error) {
    if (error instanceof OperatorConfigError)
      problems.push(...error.problems.map((problem) => `SLIPWAY_CONFIG (${file}): ${problem}`));
    else
      problems.push(
        `SLIPWAY_CONFIG names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
      );
    return { targets: [], secrets: {} };
  }
}

function absoluteStore(store: string | undefined, home: string): string {
  if (!store) return `file:${path.join(home, 'workspaces')}`;
  if (!store.startsWith('file:')) return store;
  return `file:${store.startsWith('file://') ? fileURLToPath(store) : path.resolve(home, store.slice('file:'.length))}`;
}
