import { isIP } from 'node:net';

/** An origin pattern of an endpoint target, e.g. `http://127.0.0.1:*` or `https://*.inference.example.com`. */
export interface AllowPattern {
  scheme: 'http' | 'https';
  /** Lower case, without the leading `*.` and without brackets around an IPv6 address. */
  host: string;
  /** True for `*.host`: any subdomain, but not `host` itself. */
  matchesSubdomains: boolean;
  /** A port number, or `*` for any. The scheme's default where the pattern names none. */
  port: number | '*';
  problem?: undefined;
}

const SHAPE = /^(https?):\/\/(\*\.)?(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?)(?::(\d{1,5}|\*))?$/;

/** Reads a pattern, or tells in `problem` why it is none. A bare `*` host is refused: it would open every private address. */
export function parseAllowPattern(pattern: string): AllowPattern | { problem: string } {
  const match = SHAPE.exec(pattern);
  if (!match)
    return {
      problem: `must be an origin such as https://*.example.com or http://127.0.0.1:*, not ${JSON.stringify(pattern)}`,
    };
  const [, scheme, wildcard, rawHost, rawPort] = match as unknown as [
    string,
    'http' | 'https',
    string | undefined,
    string,
    string | undefined,
  ];
  const host = rawHost.replace(/^\[|\]$/g, '').toLowerCase();
  if (rawHost.startsWith('[') && isIP(host) !== 6)
    return { problem: `names an invalid IPv6 address in ${JSON.stringify(pattern)}` };
  if (wildcard && (isIP(host) !== 0 || !host.includes('.')))
    return { problem: `may use *. only before a domain of two or more labels, not ${JSON.stringify(pattern)}` };
  const port = rawPort === '*' ? '*' : Number(rawPort ?? (scheme === 'https' ? 443 : 80));
  if (port !== '*' && (port < 1 || port > 65_535))
    return { problem: `names an invalid port in ${JSON.stringify(pattern)}` };
  return { scheme, host, matchesSubdomains: wildcard !== undefined, port };
}
