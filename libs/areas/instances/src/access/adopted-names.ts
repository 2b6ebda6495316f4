import { Injectable } from '@nestjs/common';
import { endpointUrlField, endpointUrls, MOST_ENDPOINT_URLS, type RevisionSpec } from '@slipway/contracts';
import type { RevisionSpecIssue } from '@slipway/ports/instances';
import { type Target, TargetCatalog } from '../catalog/target-catalog.js';

/** As long as a request may take between the look-up and the check of its spec. */
const KEPT_MS = 10_000;
const MOST_KEPT = 1_000;

/**
 * Knows which names of adopted servers led to an address that is not allowed, such as loopback, when a client named
 * them. Names are resolved before a transaction, because that may take a second, and specs are checked within it.
 */
@Injectable()
export class AdoptedNames {
  /** By target, tenant and URL; the oldest is first. */
  private readonly refused = new Map<string, { message: string; until: number }>();

  constructor(private readonly catalog: TargetCatalog) {}

  /** Resolves the names in a spec, or in a patch of one, which may be anything. Call it outside of transactions. */
  async resolve(tenantName: string, spec: unknown): Promise<void> {
    const targets = this.catalog.of(tenantName).filter(({ driver }) => driver.checkName !== undefined);
    const urls = urlsIn(spec);
    if (urls.length > 0) await Promise.all(targets.map((target) => this.resolveFor(target, tenantName, urls)));
  }

  issues({ config }: Target, tenantName: string, { endpoint }: RevisionSpec): RevisionSpecIssue[] {
    return endpointUrls(endpoint).flatMap((url, ordinal) => {
      const found = this.refused.get(keyOf(config.name, tenantName, url));
      if (!found || found.until < performance.now()) return [];
      return [{ field: endpointUrlField(endpoint, ordinal), code: 'not_allowed', message: found.message }];
    });
  }

  private async resolveFor({ config, driver }: Target, tenantName: string, urls: readonly string[]): Promise<void> {
    const found = await Promise.all(urls.map((url) => driver.checkName?.(url, tenantName)));
    for (const [index, url] of urls.entries()) {
      const [key, message] = [keyOf(config.name, tenantName, url), found[index]];
      this.refused.delete(key);
      if (message === undefined) continue;
      if (this.refused.size >= MOST_KEPT) this.refused.delete(this.refused.keys().next().value as string);
      this.refused.set(key, { message, until: performance.now() + KEPT_MS });
    }
  }
}

function keyOf(target: string, tenantName: string, url: string): string {
  return JSON.stringify([target, tenantName, url]);
}

/** The URLs that the spec names, before it is validated. */
function urlsIn(spec: unknown): string[] {
  const { endpoint } = (spec ?? {}) as { endpoint?: unknown };
  const { base_url, base_urls } = (endpoint ?? {}) as { base_url?: unknown; base_urls?: unknown };
  const named = [base_url, ...(Array.isArray(base_urls) ? base_urls : [])];
  const urls = named.filter((url): url is string => typeof url === 'string' && URL.canParse(url));
  return [...new Set(urls)].slice(0, MOST_ENDPOINT_URLS);
}
