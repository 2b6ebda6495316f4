/**
 * An origin that may be called: `http://127.0.0.1:*`, `https://*.inference.example.com`. `*.` means one or more whole
 * leading labels, and `*` alone any host. Without a port, the default port of the scheme applies.
 */
export interface AllowPattern {
  scheme: 'http' | 'https';
  /** In lower case, an IPv6 address in brackets. If `isWildcard`, the suffix after `*.`, or empty for any host. */
  host: string;
  isWildcard: boolean;
  /** Null = any. */
  port: number | null;
}

/** One entry of an operator's list: an origin for every tenant, or for those named. */
export type AllowEntry = string | { origin: string; tenants: string[] };

/** Name of the tenant whose admins may create tenants. */
export const OPERATOR_TENANT = 'default';
/** In a list of tenants: all of them. */
export const EVERY_TENANT = '*';

/** Returns whether a list of the operator's file names the tenant. */
export function namesTenant(tenants: readonly string[], tenantName: string): boolean {
  return tenants.includes(tenantName) || tenants.includes(EVERY_TENANT);
}

/** Returns the patterns of a list that apply to a tenant. */
export function originsFor(entries: readonly AllowEntry[], tenantName: string): string[] {
  const named = entries.filter((entry) => typeof entry === 'string' || namesTenant(entry.tenants, tenantName));
  return named.map(originOf);
}

export function originOf(entry: AllowEntry): string {
  return typeof entry === 'string' ? entry : entry.origin;
}

const SHAPE =
  /^(https?):\/\/(\[[0-9a-fA-F:.]+\]|\*|(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?::(\*|[0-9]{1,5}))?$/;
export const DEFAULT_PORT = { http: 80, https: 443 } as const;

/** Reads a pattern, or returns in `problem` why it is invalid. */
export function parseAllowPattern(pattern: string): AllowPattern | { problem: string } {
  const shown = JSON.stringify(pattern);
  const parts = SHAPE.exec(pattern);
  if (!parts) return { problem: `must be an origin such as https://*.example.com or http://127.0.0.1:*, not ${shown}` };
  const scheme = parts[1] as 'http' | 'https';
  const named = parts[2] as string;
  const port = parts[3] === '*' ? null : Number(parts[3] ?? DEFAULT_PORT[scheme]);
  if (port !== null && (port < 1 || port > 65_535)) return { problem: `has an invalid port: ${shown}` };
  const isWildcard = named.startsWith('*');
  const host = named.replace(/^\*\.?/, '').toLowerCase();
  if (host !== '' && !isCanonicalHost(host))
    return { problem: `must use the canonical form of its host, not ${shown}` };
  return { scheme, host, isWildcard, port };
}

/**
 * Checks a further rule for an operator's pattern: it names a host, so that no typo opens every private address.
 * @returns the problem, or undefined
 */
export function operatorPatternProblem(pattern: string): string | undefined {
  const parsed = parseAllowPattern(pattern);
  if ('problem' in parsed) return parsed.problem;
  if (!parsed.isWildcard || (parsed.host.includes('.') && !/^[0-9.]+$/.test(parsed.host))) return undefined;
  return `may use * only before a domain of two or more labels, not ${JSON.stringify(pattern)}`;
}

/** Returns whether a URL parser would leave the host unchanged. A trailing dot would name the same host twice. */
export function isCanonicalHost(host: string): boolean {
  if (host.endsWith('.') || host.startsWith('.') || host.includes('..')) return false;
  const probe = `http://${host}/`;
  return URL.canParse(probe) && new URL(probe).hostname === host;
}
