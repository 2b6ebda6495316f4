import type { AllowPattern } from '@slipway/contracts';
import { LRUCache } from 'lru-cache';
import type { Dispatcher } from 'undici';
import { guardedDispatcher, type GuardOptions } from './guarded-dispatcher.js';
import { checkUrl, parseAllow, type UrlVerdict } from './rules.js';

const MOST_DISPATCHERS = 100;

/**
 * Where a part of the product may send requests: a list of patterns, and connections that reach nothing else. An area provides
 * one of its own, because each may call something different; Nest closes it with the application.
 */
export class Egress {
  private readonly rules: readonly AllowPattern[];
  /** By pattern list. Bounded, because addresses of instances come and go; what falls out ends its requests first. */
  private readonly dispatchers = new LRUCache<string, Dispatcher>({
    max: MOST_DISPATCHERS,
    dispose: (dispatcher) => void dispatcher.close().catch(() => undefined),
  });

  /** @throws TypeError for a pattern that is none */
  constructor(
    readonly allow: readonly string[],
    private readonly options: GuardOptions = {},
  ) {
    this.rules = parseAllow(allow);
  }

  check(url: string): UrlVerdict {
    return checkUrl(this.rules, url);
  }

  permits(url: string): boolean {
    return this.check(url).ok;
  }

  /** The patterns under which this URL may be called. */
  patternsFor(url: string): string[] {
    return this.allow.filter((_, index) => checkUrl([this.rules[index] as AllowPattern], url).ok);
  }

  /** Connections that reach only what these patterns permit; all of this egress's if none are given. */
  dispatcher(allow: readonly string[] = this.allow): Dispatcher {
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
