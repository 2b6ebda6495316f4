import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { DATAPLANE_CHANNEL, TOKENS_CHANNEL } from '@slipway/contracts';
import { liveBindings, passportKey } from '@slipway/dataplane';
import { clientAddress, ProxyHint, type ProxyList } from '@slipway/platform-bounds';
import type { KeyRing, OperatorFileState } from '@slipway/platform-config/load';
import { missingToken } from './gateway.errors.js';
import { Holds } from './holds/holds.js';
import type { Log } from './log.js';
import { DatabaseClock } from './postgres/database-clock.js';
import { NotificationListener } from './postgres/notification.listener.js';
import { PostgresLink } from './postgres/postgres.link.js';
import { Destinations } from './requests/destination.js';
import { Inference } from './requests/inference.js';
import { cacheSaltKey } from './requests/cache-salt.js';
import { modelNamed, modelsOf } from './requests/model-list.js';
import { createGatewayServer } from './requests/server.js';
import { SessionBook } from './sessions/session-book.js';
import { DEFAULT_SETTINGS, type GatewaySettings } from './settings.js';
import { SnapshotFile } from './snapshot/snapshot.file.js';
import { SnapshotFollower } from './snapshot/snapshot.follower.js';
import { Snapshot } from './snapshot/snapshot.js';
import { metricsText, Refusals } from './telemetry/metrics.js';
import { Recorder } from './telemetry/recorder.js';
import { UsageBook } from './telemetry/usage.js';
import { Reporter } from './telemetry/reporter.js';
import { TokenBook, type Token } from './tokens/token-book.js';
import { ClientLimits } from './tokens/token-limits.js';
import { Backends } from './upstream/backends.js';
import { PublishedCredentials } from './upstream/credentials.js';
import type { GuardedDispatcher } from './upstream/instance.js';

/** Options that a process passes to its gateway. */
export interface GatewayOptions {
  databaseUrl: string;
  /** Folder of the installation's data; the snapshot is in its `gateway/` folder. */
  home: string;
  host: string;
  /** 0 means any free port. */
  port: number;
  /** Creates passports and opens the credentials of published rows. */
  keyRing: KeyRing;
  /** A token that may read /metrics, in addition to admins. */
  metricsToken?: string;
  /** Proxies whose X-Forwarded-For is trusted; without this, none is. */
  trustedProxies?: ProxyList;
  guardedDispatcher: GuardedDispatcher;
  /** State of the operator's file, for /metrics. */
  operatorFile?: () => OperatorFileState;
  settings?: Partial<GatewaySettings>;
  log: Log;
}

/** How long a start waits for Postgres before it serves the snapshot on disk. */
const PATIENCE_AT_START_MS = 1_500;
/** Time for the errors of requests that were cut to reach their clients. */
const LAST_WORDS_MS = 1_000;

/** Connects the parts of the process. `start` resolves once it serves requests; `close` drains. */
export class Gateway {
  readonly id = `gw_${randomBytes(8).toString('hex')}`;
  readonly server: Server;
  private readonly settings: GatewaySettings;
  private readonly clock = new DatabaseClock();
  private readonly credentials: PublishedCredentials;
  private readonly db: PostgresLink;
  private readonly listener: NotificationListener;
  private readonly snapshot: Snapshot;
  private readonly file: SnapshotFile;
  private readonly follower: SnapshotFollower;
  private readonly backends: Backends;
  private readonly holds: Holds;
  private readonly tokens: TokenBook;
  private readonly proxyHint: ProxyHint;
  private readonly limits: ClientLimits;
  private readonly sessions: SessionBook;
  private readonly recorder: Recorder;
  private readonly usage: UsageBook;
  private readonly refusals = new Refusals();
  private readonly inference: Inference;
  private reporter: Reporter | null = null;
  private readonly sockets = new Set<Socket>();
  private hasSnapshot = false;
  private isDraining = false;

  constructor(private readonly options: GatewayOptions) {
    const { log } = options;
    this.settings = { ...DEFAULT_SETTINGS, ...options.settings };
    this.db = new PostgresLink(options.databaseUrl);
    this.credentials = new PublishedCredentials(options.keyRing, log);
    this.holds = new Holds(this.settings.hold, log, this.clock);
    this.backends = new Backends(this.settings, options.guardedDispatcher, this.credentials, log, this.holds);
    this.snapshot = new Snapshot({
      onBackend: (row) => this.backends.onBackend(row),
      onBackendGone: (id) => this.backends.onBackendGone(id),
      onSlug: (row) => this.backends.onSlug(row),
      onSlugGone: (slug) => this.backends.onSlugGone(slug),
      onRoute: (route) => {
        this.holds.onRoute(route);
        this.reporter?.onRoute(route);
      },
      onRouteGone: (deploymentId) => this.holds.onRouteGone(deploymentId),
      onPassportRevoked: (id) => this.sessions.forget(id),
    });
    this.sessions = new SessionBook(
      passportKey(options.keyRing),
      this.snapshot.revokedPassports,
      this.settings.maxSessions,
      this.clock,
    );
    this.tokens = new TokenBook(this.db, () => this.file.save(), this.clock);
    this.proxyHint = new ProxyHint((text) => log.warn({}, text), options.trustedProxies !== undefined);
    this.limits = new ClientLimits(this.settings);
    this.file = new SnapshotFile(
      options.home,
      () => ({ ...this.snapshot.stored(), tokens: this.tokens.stored() }),
      log,
    );
    this.follower = new SnapshotFollower(
      this.db,
      this.snapshot,
      this.tokens,
      () => this.file.save(),
      this.settings.refreshMs,
      log,
    );
    this.recorder = new Recorder(this.id, undefined, this.clock);
    this.usage = new UsageBook(this.id, undefined, this.clock);
    const destinations = new Destinations(this.snapshot, this.backends, this.recorder);
    const parts = {
      sessions: this.sessions,
      recorder: this.recorder,
      usage: this.usage,
      settings: this.settings,
      isRevisionServing: destinations.isServing,
      log,
    };
    const tokens = { check: this.checkToken, ends: this.tokens.ends };
    this.inference = new Inference(tokens, this.limits, destinations, parts, cacheSaltKey(options.keyRing));
    this.listener = new NotificationListener(
      options.databaseUrl,
      [DATAPLANE_CHANNEL, TOKENS_CHANNEL],
      this.events(),
      log,
    );
    this.server = createGatewayServer(
      this.handlers(),
      this.settings,
      () => this.isDraining,
      log,
      (error) => this.refusals.note(error),
    );
    this.server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  /** The port that the server listens on. */
  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get isReady(): boolean {
    return this.hasSnapshot && !this.isDraining;
  }

  /**
   * Resolves when requests are served: with state from Postgres, or from the snapshot on disk if Postgres is down.
   * @throws ForeignKeyError if it could open none of the credentials that it read
   */
  async start(): Promise<void> {
    const { log } = this.options;
    this.reporter = new Reporter(
      this.db,
      this.id,
      this.recorder,
      this.usage,
      this.sessions,
      this.snapshot,
      this.backends,
      this.tokens,
      this.settings.reportMs,
      log,
      this.clock,
    );
    const isRestored = this.restore();
    const followed = this.follower.start().then((hasRead) => {
      this.hasSnapshot ||= hasRead;
    });
    // Postgres is read first, so that a token that was revoked while this process was down is not served.
    await Promise.race([followed, pause(PATIENCE_AT_START_MS)]);
    this.hasSnapshot ||= isRestored;
    // Before the first request, because a session that is bound anew would not return to its instance.
    if (this.follower.isFollowing) await Promise.race([this.takeOverBindings(), pause(PATIENCE_AT_START_MS)]);
    this.listener.start();
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(this.options.port, this.options.host, 1024, resolve);
    });
    await this.untilReady();
    this.backends.noteStarted();
    await this.refuseForeignKey();
    log.info(
      { port: this.port, gateway_id: this.id, routes: this.snapshot.routes.size, postgres: this.follower.isFollowing },
      'gateway is serving requests',
    );
  }

  /**
   * Stops accepting connections, lets requests finish within a time limit, ends the rest with an error, and stores what
   * is pending.
   */
  async close(): Promise<void> {
    if (this.isDraining) return;
    this.isDraining = true;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    const deadline = performance.now() + this.settings.drainMs;
    while (this.inference.inFlight > 0 && performance.now() < deadline) await pause(20);
    this.holds.refuseAll();
    this.inference.stop();
    // Connections that stay open between requests would delay `close`.
    const sweep = setInterval(() => this.closeIdleConnections(), 50);
    const leftMs = Math.max(LAST_WORDS_MS, deadline - performance.now());
    const cut = setTimeout(() => this.server.closeAllConnections(), leftMs);
    await closed;
    clearInterval(sweep);
    clearTimeout(cut);
    // The server closes before its connections emit their end, and a request that was cut is recorded only then.
    for (let tries = 0; this.inference.inFlight > 0 && tries < 100; tries += 1) await pause(10);
    await this.listener.close();
    await this.follower.close();
    await this.reporter?.close();
    await this.file.flush();
    await this.backends.destroy();
    await this.db.close();
  }

  metrics(): string {
    const { recorder, usage, snapshot, follower, sessions, tokens, backends, holds } = this;
    return metricsText({
      recorder,
      usage,
      snapshot,
      follower,
      sessions,
      tokens,
      backends,
      holds,
      inFlight: () => this.inference.inFlight,
      heldBytes: () => this.inference.bytes.held,
      operatorFile: this.options.operatorFile,
      refusals: this.refusals,
    });
  }

  /** Node also takes a connection for idle whose client has not read the end of its answer yet. */
  private closeIdleConnections(): void {
    for (const { writableLength } of this.sockets) if (writableLength > 0) return;
    this.server.closeIdleConnections();
  }

  private async refuseForeignKey(): Promise<void> {
    const problem = this.credentials.foreignKey();
    if (!problem) return;
    await this.close();
    throw problem;
  }

  private async untilReady(): Promise<void> {
    while (!this.hasSnapshot && !this.isDraining) {
      if (this.follower.isFollowing) this.hasSnapshot = true;
      else await pause(50);
    }
  }

  /** A session keeps its instance when the gateway restarts. Best effort: without Postgres, sessions are bound anew. */
  private async takeOverBindings(): Promise<void> {
    // Their expiry is a time of Postgres.
    await this.reporter?.reportNow();
    await liveBindings(this.db, this.settings.maxSessions).then(
      (rows) => this.sessions.load(rows),
      () => undefined,
    );
  }

  private restore(): boolean {
    const stored = this.file.load();
    if (!stored) return false;
    const { routes, backends, slugs, revoked_passports: revokedPassports } = stored;
    this.tokens.load(stored.tokens);
    this.snapshot.apply(
      { routes: [], backends: [], slugs: [], passports: [] },
      { routes, backends, slugs, revokedPassports },
    );
    return true;
  }

  private events() {
    return {
      onNotification: (channel: string, payload: string): void => {
        if (channel === TOKENS_CHANNEL) this.follower.onTokenChanged(payload);
        else this.follower.onPublished(payload);
      },
      onConnected: () => this.follower.compareEverything(),
      onDisconnected: () => undefined,
    };
  }

  private handlers() {
    return {
      infer: this.inference.handle.bind(this.inference),
      models: async (request: IncomingMessage, id: string | undefined): Promise<unknown> => {
        const token = await this.checkToken(request);
        this.limits.enter(token);
        this.limits.leave(token);
        if (id !== undefined) return modelNamed(this.snapshot, token.tenantId, id);
        return { object: 'list', data: modelsOf(this.snapshot, token.tenantId) };
      },
      metrics: async (request: IncomingMessage): Promise<string> => {
        await this.assertMayReadMetrics(request);
        return this.metrics();
      },
      readiness: () => ({
        isReady: this.isReady,
        status: {
          status: this.isReady ? 'ready' : this.isDraining ? 'draining' : 'starting',
          postgres: this.follower.isFollowing ? 'up' : 'away',
          routes: this.snapshot.routes.size,
        },
      }),
    };
  }

  private readonly checkToken = ({ headers, socket }: IncomingMessage): Token | Promise<Token> => {
    const forwardedFor = headers['x-forwarded-for'];
    this.proxyHint.note(socket.remoteAddress, forwardedFor);
    return this.tokens.check(
      headers.authorization,
      clientAddress(socket.remoteAddress, forwardedFor, this.options.trustedProxies),
    );
  };

  private async assertMayReadMetrics(request: IncomingMessage): Promise<void> {
    const { metricsToken } = this.options;
    const { authorization } = request.headers;
    if (metricsToken && authorization && isSame(authorization, `Bearer ${metricsToken}`)) return;
    const token = await this.checkToken(request);
    // Metrics name the revisions of every tenant.
    if (!token.scopes.includes('admin') || !token.isOperator) throw missingToken();
  }
}

function isSame(given: string, expected: string): boolean {
  const a = Buffer.from(given);
  const b = Buffer.from(expected);
  return a.length === b.length && timingSafeEqual(a, b);
}
