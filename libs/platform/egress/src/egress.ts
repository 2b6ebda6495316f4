import { originsFor, type AllowEntry } from '@slipway/contracts';
import { LRUCache } from 'lru-cache';
import type { Dispatcher } from 'undici';
import { guardedDispatcher, type GuardOptions } from './guarded-dispatcher.js';
import { checkUrl, type UrlCheckResult } from './rules.js';

const MOST_DISPATCHERS = 100;

/**
 * Where a part of the product may send requests, for whom: a list of origins, each for every tenant or for some, and connections that
 * reach nothing else. An area provides one of its own, because each may call something different; Nest closes it with the application.
 */
export class Egress {
  /** By pattern list. Bounded, because addresses of instances come and go; what falls out ends its requests first. */
  private readonly dispatchers = new LRUCache<string, Dispatcher>({
    max: MOST_DISPATCHERS,
    dispose: (dispatcher) => void dispatcher.close().catch(() => undefined),
  });

  /**
   * @param allow asked at each use, because the operator may change it; its patterns have been checked by who read them
   */
  constructor(
    private readonly allow: () => readonly AllowEntry[],
    private readonly options: GuardOptions = {},
  ) {}

  /** The patterns that hold for a tenant, by its name. */
  patterns(tenantName: string): string[] {
    return originsFor(this.allow(), tenantName);
  }

  check(tenantName: string, url: string): UrlCheckResult {
    return checkUrl(this.patterns(tenantName), url);
  }

  permits(tenantName: string, url: string): boolean {
    return this.check(tenantName, url).ok;
  }

  /** The patterns under which the tenant may have this URL called. */
  patternsFor(tenantName: string, url: string): string[] {
    return this.patterns(tenantName).filter((pattern) => checkUrl([pattern], url).ok);
  }

  /** Connections that reach only what these patterns permit. */
  dispatcher(allow: readonly string[]): Dispatcher {
    const key = [...allow].sort().join(' ');
    const known = this.dispatchers.get(key) ?? guardedDispatcher(allow, this.options);
    this.dispatchers.set(key, known);
    return known;
  }

  /** As late as possible: work that stops waits for the answers under way. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.dispatchers.values()].map((dispatcher) => dispatcher.destroy()));
  }
}

/** Any public server; the address is checked, whatever the name says. */
export const PUBLIC = ['http://*:*', 'https://*:*'];
export const PUBLIC_TLS = ['https://*:*'];
