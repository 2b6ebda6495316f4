import { errors } from '../errors/platform.errors.js';
import type { SlipwayError } from '../errors/slipway-error.js';
import { API_PREFIX } from '../routes/route-spec.js';

/** No path of the API has more. */
const MOST_SEGMENTS = 16;
/** Paths that clients of OpenAI call. */
const OF_THE_GATEWAY = /^\/v1\/(?:chat\/|completions|embeddings|models|responses|messages)/;

/**
 * Knows which methods a path supports, so that a wrong method is a 405 with `Allow` instead of a 404. The router itself
 * has one tree per method, and no query over all of them.
 */
export class PathTable {
  private readonly rows = new Map<string, { pattern: RegExp; methods: Set<string> }>();

  add(method: string | string[], path: string): void {
    const row = this.rows.get(path) ?? { pattern: patternOf(path), methods: new Set<string>() };
    for (const name of [method].flat()) row.methods.add(name);
    this.rows.set(path, row);
  }

  /**
   * @param url as the client sent it
   * @returns an empty list for an unknown path
   */
  methodsOf(url: string): string[] {
    const own = this.ownMethodsOf(url);
    if (own) return [...own].sort();
    const path = url.split('?', 1)[0]!;
    const methods = new Set<string>();
    for (const row of this.rows.values()) {
      if (row.pattern.test(path)) for (const method of row.methods) methods.add(method);
    }
    return [...methods].sort();
  }

  /** Returns the value of `Allow`. `OPTIONS` is answered everywhere. */
  allowedOn(url: string): string {
    return [...this.methodsOf(url), 'OPTIONS'].join(', ');
  }

  /**
   * Returns the error for a request that was not served: 405 if the path has other methods only, else 404.
   * @param method of the request; without it, one that no path has
   */
  refusalOf(url: string, method?: string): SlipwayError {
    const methods = this.methodsOf(url);
    const isMissing = methods.length === 0 || (method !== undefined && methods.includes(method));
    if (!isMissing) return errors.method_not_allowed({ headers: { allow: this.allowedOn(url) } });
    if (OF_THE_GATEWAY.test(url))
      return errors.not_found({ remediation: 'Send inference requests to the gateway, which has another address.' });
    const likely = this.likelyPathOf(url);
    return errors.not_found(
      likely === undefined ? {} : { remediation: `Did you mean ${likely}? All paths are at /docs.` },
    );
  }

  /**
   * The path that a client probably meant: without a slash at its end, without doubled slashes, in lower case, or with
   * the prefix of the API.
   * @param url an unknown path
   */
  likelyPathOf(url: string): string | undefined {
    const segments = url.split('?', 1)[0]!.split('/').filter(Boolean);
    if (segments.length > MOST_SEGMENTS) return undefined;
    const path = `/${segments.join('/')}`;
    const rest = path.replace(/^\/api(?=\/|$)/i, '').replace(/^\/v\d+(?=\/|$)/i, '');
    const [name = '', ...others] = rest.split('/').slice(1);
    // Names in a path may have capital letters, so only the kind is compared in lower case.
    const kind = [`${API_PREFIX}/${name.toLowerCase()}`, ...others].join('/');
    const plural = [`${API_PREFIX}/${name.toLowerCase()}s`, ...others].join('/');
    return [path, API_PREFIX + rest, kind, plural].find((one) => this.methodsOf(one).length > 0);
  }

  /** Of a path that is a route of its own, such as `/sandboxes/references`, also if a placeholder would match it. */
  ownMethodsOf(url: string): ReadonlySet<string> | undefined {
    return this.rows.get(url.split('?', 1)[0]!)?.methods;
  }
}

function patternOf(path: string): RegExp {
  const segments = path.split('/').map((segment) => {
    if (segment === '*') return '.*';
    return segment.startsWith(':') ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${segments.join('/')}$`);
}
