import { originsFor, type AllowEntry } from '@slipway/contracts';
import { LRUCache } from 'lru-cache';
import type { Dispatcher } from 'undici';
import { GuardedPost } from './guarded-post.js';
import {
  guardedConnector,
  guardedDispatcher,
  inTime,
  resolveWithSystem,
  type GuardOptions,
  type ResolveHost,
} from './guarded-dispatcher.js';
import { checkAddresses, checkUrl, type UrlCheckResult } from './rules.js';

const MOST_DISPATCHERS = 100;
/** A client waits for the check of a name. */
const LOOKUP_LIMIT_MS = 1_000;
/** Look-ups of this process for all checks. The system's resolver uses threads, of which the process has few. */
const MOST_LOOKUPS = 2;

/**
 * Says where a part of the product may send requests, and for whom. It has a list of origins, each for every tenant or
 * for some, and connections that reach nothing else.
 * Each area provides its own, because areas may call different hosts. Nest closes it with the application.
 */
export class Egress {
  /**
   * By pattern list. Bounded, because addresses of instances come and go. An evicted dispatcher finishes its requests
   * first.
   */
  private readonly dispatchers = new LRUCache<string, Dispatcher>({
    max: MOST_DISPATCHERS,
    dispose: (dispatcher) => void dispatcher.close().catch(() => undefined),
  });

  /** Likewise. The connections of an evicted one end by themselves when they are idle. */
  private readonly posts = new LRUCache<string, GuardedPost>({ max: MOST_DISPATCHERS });

  private readonly names: NameCheck;

  /** @param allow read at each use, because the operator may change it; its reader has already checked the patterns */
  constructor(
    private readonly allow: () => readonly AllowEntry[],
    private readonly options: GuardOptions = {},
  ) {
    this.names = new NameCheck(options.resolve);
  }

  /** The patterns that apply to a tenant, which is given by its name. */
  patterns(tenantName: string): string[] {
    return originsFor(this.allow(), tenantName);
  }

  check(tenantName: string, url: string): UrlCheckResult {
    return checkUrl(this.patterns(tenantName), url);
  }

  permits(tenantName: string, url: string): boolean {
    return this.check(tenantName, url).ok;
  }

  /** The patterns that allow this URL for the tenant. */
  patternsFor(tenantName: string, url: string): string[] {
    return this.patterns(tenantName).filter((pattern) => checkUrl([pattern], url).ok);
  }

  /**
   * Like `check`, for a URL that a client has just named: also refuses a name that leads to an address that is not
   * allowed now, such as loopback. A name that cannot be resolved passes.
   */
  async checkNow(tenantName: string, url: string): Promise<UrlCheckResult> {
    return this.resolved(this.check(tenantName, url));
  }

  /** Adds the addresses of the name to a check that was made with other patterns. */
  async resolved(check: UrlCheckResult): Promise<UrlCheckResult> {
    return checkAddresses(check, (host) => this.names.resolve(host));
  }

  /**
   * Connections that reach only what these patterns permit.
   * @param isEngine engines are never called through the proxy
   */
  dispatcher(allow: readonly string[], { isEngine = false } = {}): Dispatcher {
    const key = `${isEngine} ${[...allow].sort().join(' ')}`;
    const { proxy, ...direct } = this.options;
    const known = this.dispatchers.get(key) ?? guardedDispatcher(allow, isEngine ? direct : { ...direct, proxy });
    this.dispatchers.set(key, known);
    return known;
  }

  /** Posts over connections that reach only what these patterns permit. */
  post(allow: readonly string[]): GuardedPost {
    const key = [...allow].sort().join(' ');
    const known = this.posts.get(key) ?? new GuardedPost(guardedConnector(allow, this.options));
    this.posts.set(key, known);
    return known;
  }

  /** Closes the connections. It runs as late as possible, because stopping work waits for responses in progress. */
  async onApplicationShutdown(): Promise<void> {
    for (const post of this.posts.values()) post.close();
    await Promise.all([...this.dispatchers.values()].map((dispatcher) => dispatcher.destroy()));
  }
}

/** Any public server. The address is checked as well, whatever the name is. */
export const PUBLIC = ['http://*:*', 'https://*:*'];
export const PUBLIC_TLS = ['https://*:*'];

let running = 0;
const waiting: (() => void)[] = [];

/** Resolves the names of URLs that clients have just named. It takes little time, whatever the name's servers do. */
class NameCheck {
  constructor(private readonly resolveHost: ResolveHost = resolveWithSystem) {}

  /** @throws if the name has no address, or is not resolved in time */
  async resolve(host: string): Promise<readonly { address: string }[]> {
    let hasEnded = false;
    // A check that ended while it waited for its turn needs no look-up.
    const resolved = oneOfFew(() => (hasEnded ? Promise.resolve([]) : this.resolveHost(host)));
    return inTime(resolved, LOOKUP_LIMIT_MS).finally(() => (hasEnded = true));
  }
}

async function oneOfFew<T>(work: () => Promise<T>): Promise<T> {
  if (running >= MOST_LOOKUPS) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    // It keeps the slot.
    if (next) next();
    else running -= 1;
  }
}
