import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProxyList } from '@slipway/platform-bounds';
import { BUILT_IN_SETTINGS } from './built-in-settings.js';
import { KeyRing } from './key-ring.js';
import { loadNamed } from './kinds-on-demand.js';
import { OperatorConfigError, parseOperatorConfig, type OperatorConfig, type TargetReader } from './operator-config.js';
import {
  operatorFileOf,
  OperatorFileWatch,
  readOperatorFile,
  type FileLog,
  type OperatorFile,
  OperatorSettings,
} from './operator-settings.js';
import type { ProcessName } from './variables/processes.js';
import { readStackFile, type StackFile } from './stack-file.js';
import { environmentOf, identityVariableProblems, readVariables, SCHEMA, type Values } from './variables/variables.js';

// The gateway reads these exports of this library. It must not load Nest.
export { KeyRing } from './key-ring.js';
export { operatorMetrics } from './operator-metrics.js';
export { type OperatorFileState, type OperatorSettings } from './operator-settings.js';
export { quotasOf, type QuotaConfig, type QuotaName, type Quotas } from './quotas.js';

/** Nest token of the checked configuration: `@Inject(CONFIG) config: Config`. */
export const CONFIG: unique symbol = Symbol('slipway.config');

/**
 * The external configuration of a process, checked. It is read once at boot and is immutable afterwards, except
 * `operator`.
 */
export interface Config {
  env: 'development' | 'production' | 'test';
  /** Absolute. */
  home: string;
  /** PATH, for programs of the host that supply information about it; undefined if it is not set. */
  searchPath?: string;
  host: string;
  /** 0 = any free port. */
  apiPort: number;
  gatewayPort: number;
  /**
   * `embedded`: found through the stack file of `npm start`, not through DATABASE_URL. `poolSize`: connections per
   * process. `migrateUrl`, `gatewayUrl`: separate logins for the owner and for gateways, if they are configured.
   */
  database: { url: string; migrateUrl: string; gatewayUrl: string; embedded: boolean; poolSize: number };
  queue: { backend: 'postgres' | 'redis'; redisUrl?: string };
  keyRing: KeyRing;
  bootstrapToken?: string;
  /** `issuer`, `audience` and `jwksUrl` are all set or all unset (no hosted sign-in). */
  identity: {
    provider: string;
    issuer?: string;
    audience?: string;
    jwksUrl?: string;
    /** If this and the three values above are set, people sign in to the console at the provider. */
    clientId?: string;
    clientSecret?: string;
  };
  /**
   * `files`: absolute, if set. `publicUrl`: an origin. `gatewayUrl`: the address at which this process reaches the
   * gateway.
   */
  console: { isOn: boolean; files?: string; publicUrl?: string; gatewayUrl: string };
  /** `workspaceStore`: `file:<absolute folder>` or `s3://bucket/prefix`. */
  upload: { maxBytes: number; workspaceStore: string; s3: { endpoint?: string; region: string } };
  /** `anchor`: `log`, `file:/<path>` or `s3://bucket/prefix`. */
  audit: { anchor: string };
  /** `limits` are per token, except the size of a request. */
  gateway: {
    publicUrl: string;
    limits: { requestsPerMinute: number; maxConcurrencyPerToken: number; maxBodyBytes: number };
    /** For one deployment. The limit of a tenant is twice as high, and that of all tenants together four times. */
    hold: { maxRequests: number; maxBytes: number };
    /** How long a stopping gateway waits for its requests. */
    drainSeconds: number;
    /** Lower-case names of client headers that engines receive in addition to those that the gateway knows. */
    passedHeaders: string[];
    /** Origins whose pages may call the gateway from a browser. */
    corsOrigins: string[];
  };
  leaseSeconds: number;
  logLevel: string;
  /** Per token; 0 = off. */
  rateLimit: { readsPerMinute: number; mutationsPerMinute: number };
  metricsPort?: number;
  /**
   * Ports of this machine that no outbound call may reach: those of Slipway's processes, of Postgres, Redis, S3 and of a
   * proxy for outbound calls on this machine.
   */
  ownPorts: readonly number[];
  metricsToken?: string;
  /** For calls that leave the operator's network. `none` are the hosts that are called directly. */
  outboundProxy?: { http?: string; https?: string; none: string[] };
  /** The proxies whose X-Forwarded-For is trusted. */
  trustedProxies?: ProxyList;
  worker: { concurrency: number };
  /** Changes while the process runs (`OperatorSettings`). Read a key when you use it, and keep no copy. */
  operator: OperatorConfig;
  pausePoint?: string;
}

/** The configuration that a process receives at boot. */
export interface LoadedConfig extends Config {
  operator: OperatorSettings;
  operatorFile: OperatorFile;
}

export class ConfigError extends Error {
  constructor(readonly problems: string[]) {
    super(
      `Slipway cannot start: ${problems.length === 1 ? '1 problem' : `${problems.length} problems`} in its configuration.\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

/** sysexits.h EX_CONFIG: lets supervisors distinguish a wrong configuration from a crash. */
export const EXIT_CONFIG = 78;

export interface LoadOptions {
  /**
   * The process that reads its configuration. It takes only its own variables of the table, as if the others were
   * unset. Without it every variable is read, as `npm start` does.
   */
  process?: ProcessName;
  /** Replaces `<home>/run/stack.json`, for the launcher that is about to write it. */
  stack?: StackFile;
  /** The available kinds of execution targets. Without them the operator's targets are not read. */
  targets?: readonly TargetReader[];
}

/**
 * Reads and checks all configuration.
 * @throws ConfigError that lists every problem by the variable's name
 */
export function loadConfig(given: NodeJS.ProcessEnv, cwd: string, options: LoadOptions = {}): LoadedConfig {
  // The operator's file, which names secrets, is not read yet. None of them is a variable of the table.
  const env = options.process === undefined ? given : environmentOf(options.process, given, []);
  const { values, problems } = readVariables(env);
  const home = path.resolve(cwd, values.home ?? '.slipway');
  const isSet = (name: string): boolean => Boolean(env[name]?.trim());

  const production = values.nodeEnv === 'production';
  // Migrations encrypt nothing, so the key is none of their variables.
  const needsKey = options.process === undefined || SCHEMA.secretKey.processes.includes(options.process);
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
  // With an external database no file contains the key. If there is no database at all, that problem is enough.
  if (needsKey && !isSet('SLIPWAY_SECRET_KEY') && (production || isSet('DATABASE_URL')) && !options.stack) {
    problems.push('SLIPWAY_SECRET_KEY is required (32 bytes in base64, e.g. the output of `openssl rand -base64 32`)');
  }
  if (production && !isSet('SLIPWAY_SECRET_KEY') && options.stack)
    problems.push('SLIPWAY_SECRET_KEY is required when NODE_ENV=production');
  if (production && values.pausePoint)
    problems.push('SLIPWAY_PAUSE_POINT is for tests and is refused when NODE_ENV=production');
  problems.push(...identityVariableProblems(env, values, production));
  if (values.queueBackend === 'redis' && !isSet('REDIS_URL'))
    problems.push('REDIS_URL is required when QUEUE_BACKEND=redis');
  if (values.apiPort && values.apiPort === values.gatewayPort)
    problems.push('SLIPWAY_GATEWAY_PORT must differ from SLIPWAY_API_PORT');

  const operatorFile = operatorFileOf(values.configFile, cwd);
  const operator = loadOperatorSettings(operatorFile, production, options.targets, problems);
  if (problems.length > 0 || !operator) throw new ConfigError(problems);

  const url = values.databaseUrl ?? stack?.databaseUrl ?? '';
  const migrateUrl = values.migrateDatabaseUrl ?? stack?.migrateUrl ?? url;
  const gatewayUrl = values.gatewayDatabaseUrl ?? stack?.gatewayUrl ?? url;
  const secretKey = values.secretKey ?? Buffer.from(stack?.secretKey ?? options.stack?.secretKey ?? '', 'base64');
  const keyRing = needsKey ? new KeyRing(secretKey, values.secretKeysOld) : undefined;
  const publicGateway = values.gatewayPublicUrl ?? addressOf(values.host, values.gatewayPort);
  return {
    env: values.nodeEnv,
    home,
    ...(env['PATH'] ? { searchPath: env['PATH'] } : {}),
    host: values.host,
    apiPort: values.apiPort,
    gatewayPort: values.gatewayPort,
    database: { url, migrateUrl, gatewayUrl, embedded: stack !== undefined, poolSize: values.databasePool },
    queue: {
      backend: values.queueBackend ?? (values.redisUrl ? 'redis' : 'postgres'),
      ...(values.redisUrl ? { redisUrl: values.redisUrl } : {}),
    },
    get keyRing() {
      return keyRing ?? refuseKey();
    },
    bootstrapToken: values.bootstrapToken,
    identity: {
      provider: values.identityProvider,
      issuer: values.identityIssuer,
      audience: values.identityAudience,
      jwksUrl: values.identityJwksUrl,
      clientId: values.identityClientId,
      clientSecret: values.identityClientSecret,
    },
    console: {
      isOn: values.console === 'on',
      ...(values.consoleFiles ? { files: path.resolve(cwd, values.consoleFiles) } : {}),
      publicUrl: values.publicUrl,
      gatewayUrl: values.consoleGatewayUrl ?? publicGateway,
    },
    upload: {
      maxBytes: values.uploadMaxBytes,
      workspaceStore: absoluteStore(values.workspaceStore, home),
      s3: { endpoint: values.s3Endpoint, region: values.s3Region },
    },
    audit: { anchor: values.auditAnchor },
    gateway: {
      publicUrl: publicGateway,
      limits: {
        requestsPerMinute: values.gatewayRequestsPerMinute,
        maxConcurrencyPerToken: values.gatewayConcurrency,
        maxBodyBytes: values.gatewayMaxBodyBytes,
      },
      hold: { maxRequests: values.gatewayHoldMaxRequests, maxBytes: values.gatewayHoldMaxBytes },
      drainSeconds: values.gatewayDrainSeconds,
      passedHeaders: values.gatewayPassedHeaders ?? [],
      corsOrigins: values.gatewayCorsOrigins ?? [],
    },
    leaseSeconds: values.leaseSeconds,
    logLevel: values.logLevel,
    rateLimit: { readsPerMinute: values.rateLimitReads, mutationsPerMinute: values.rateLimitMutations },
    metricsPort: values.metricsPort,
    ownPorts: ownPorts(env === given ? values : readVariables(given).values, stack),
    metricsToken: values.metricsToken,
    ...((values.httpProxy ?? values.httpsProxy) !== undefined && {
      outboundProxy: { http: values.httpProxy, https: values.httpsProxy, none: values.noProxy ?? [] },
    }),
    trustedProxies: values.trustedProxies,
    worker: { concurrency: values.workerConcurrency },
    operator,
    operatorFile,
    pausePoint: values.pausePoint,
  };
}

function refuseKey(): never {
  throw new Error('This process has no key-encryption key: SLIPWAY_SECRET_KEY is none of its variables.');
}

/** For entry points: writes every problem to stderr, then exits with 78. */
export function loadConfigOrExit(options: LoadOptions & { process: ProcessName }): LoadedConfig {
  try {
    return loadConfig(process.env, process.cwd(), options);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(EXIT_CONFIG);
  }
}

/**
 * For entry points that keep running: applies changes of the operator's file when they are written, and at once at
 * SIGHUP. An invalid file changes nothing, and its problems are logged.
 */
export function followOperatorFile({ operator, operatorFile }: LoadedConfig, log: FileLog): OperatorFileWatch {
  const watch = new OperatorFileWatch(operator, operatorFile, log);
  process.on('SIGHUP', () => void watch.reload());
  watch.start();
  return watch;
}

/**
 * The address at which a client on this machine reaches a server that listens on `host`. A wildcard address is shown as
 * loopback.
 */
export function addressOf(host: string, port: number): string {
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}

const DEFAULT_PORTS: Record<string, number> = {
  'postgres:': 5432,
  'postgresql:': 5432,
  'redis:': 6379,
  'rediss:': 6379,
  'http:': 80,
  'https:': 443,
};

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * The ports in all variables, also in those of other processes: a process that has such a variable may use it for
 * nothing, but must not call the port for a client. A port of 0 means any free port, which is not known yet.
 */
function ownPorts(values: Values, stack: StackFile | undefined): number[] {
  const { apiPort, gatewayPort, metricsPort, redisUrl, s3Endpoint, ownPorts: further = [] } = values;
  const { databaseUrl, migrateDatabaseUrl, gatewayDatabaseUrl } = values;
  // All logins of the embedded Postgres have its port.
  const logins = [stack?.databaseUrl, databaseUrl, migrateDatabaseUrl, gatewayDatabaseUrl];
  // The port of a proxy elsewhere may be that of an engine here.
  const proxies = [values.httpProxy, values.httpsProxy].filter((url) => url && LOOPBACK.test(new URL(url).hostname));
  const services = [...logins, redisUrl, s3Endpoint, ...proxies].flatMap((url) =>
    url && URL.canParse(url) ? new URL(url) : [],
  );
  const theirs = services.map(({ port, protocol }) => (port === '' ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port)));
  return [...new Set([apiPort, gatewayPort, metricsPort ?? 0, ...theirs, ...further])].filter((port) => port > 0);
}

/**
 * In production a file replaces the built-in settings. An operator there wants no simulator among the targets, and no
 * loopback among the origins, unless a file names them.
 */
function loadOperatorSettings(
  file: OperatorFile,
  production: boolean,
  readers: readonly TargetReader[] | undefined,
  problems: string[],
): OperatorSettings | undefined {
  const builtIn = { settings: BUILT_IN_SETTINGS, areOn: !production };
  try {
    return OperatorSettings.of(
      (text) => parseOperatorConfig(text ?? 'defaults: true', readers, builtIn),
      readOperatorFile(file),
      (text) => loadNamed(readers ?? [], text),
    );
  } catch (error) {
    if (error instanceof OperatorConfigError)
      problems.push(...error.problems.map((problem) => `SLIPWAY_CONFIG (${file.path}): ${problem}`));
    else problems.push(`SLIPWAY_CONFIG: ${(error as Error).message}`);
    return undefined;
  }
}

function absoluteStore(store: string | undefined, home: string): string {
  if (!store) return `file:${path.join(home, 'workspaces')}`;
  if (!store.startsWith('file:')) return store;
  return `file:${store.startsWith('file://') ? fileURLToPath(store) : path.resolve(home, store.slice('file:'.length))}`;
}
