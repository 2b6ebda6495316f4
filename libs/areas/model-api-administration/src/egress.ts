import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { checkUrl, guardedDispatcher, type UrlVerdict } from '@slipway/target-driver';
import type { Dispatcher } from 'undici';

/** Which suppliers may be called: what the operator's endpoint targets allow, and nothing else. */
@Injectable()
export class Egress implements OnModuleDestroy {
  private readonly allow: string[];
  private readonly dispatchers = new Map<string, Dispatcher>();

  constructor(@Inject(CONFIG) config: Pick<Config, 'operator'>) {
    this.allow = [
      ...new Set(config.operator.targets.flatMap((target) => (target.kind === 'endpoint' ? target.allow : []))),
    ];
  }

  check(url: string): UrlVerdict {
    return checkUrl(this.allow, url);
  }

  /** The patterns under which this URL may be called; the gateway holds its connections to them. */
  patternsFor(url: string): string[] {
    return this.allow.filter((pattern) => checkUrl([pattern], url).ok);
  }

  /** Connections that reach nothing but what these patterns permit. */
  dispatcher(allow: readonly string[]): Dispatcher {
    const key = [...allow].sort().join(' ');
    const known = this.dispatchers.get(key) ?? guardedDispatcher(allow, { connections: 8 });
    this.dispatchers.set(key, known);
    return known;
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all([...this.dispatchers.values()].map((dispatcher) => dispatcher.destroy()));
  }
}
