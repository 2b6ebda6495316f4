import { DEFAULT_PORT, isCanonicalHost, parseAllowPattern, type AllowPattern } from '@slipway/contracts';
import { addressReachOf, canonicalAddress, isLinkLocal, isLoopback, isOfThisMachine } from './addresses.js';
import { isMetadataAddress, isMetadataName } from './metadata.js';

export type UrlRefusal =
  | 'invalid_url'
  | 'scheme_not_allowed'
  | 'userinfo_not_allowed'
  | 'fragment_not_allowed'
  | 'host_not_canonical'
  | 'url_not_allowed'
  | 'address_not_allowed';

/** `isLiteral`: the rule names exactly this host, so the host may have an internal address. */
export type UrlCheckResult =
  { ok: true; url: URL; isLiteral: boolean } | { ok: false; code: UrlRefusal; message: string };

/** The message for an address that no rule covers. */
export const OUTSIDE = "is outside of the target's allow list";
const MOST_SHOWN = 10;

/** The same message with the rules. @param allow the rules of the requesting tenant only */
export function outsideOf(allow: readonly string[]): string {
  if (allow.length === 0) return `${OUTSIDE}, which is empty`;
  const more = allow.length > MOST_SHOWN ? ` and ${allow.length - MOST_SHOWN} more` : '';
  return `${OUTSIDE}: ${allow.slice(0, MOST_SHOWN).join(', ')}${more}`;
}

const ANYTHING_UNPRINTABLE = /[^\x21-\x7e]|\\/;

/** @throws TypeError that names the first invalid pattern */
export function parseAllow(patterns: readonly string[]): AllowPattern[] {
  return patterns.map((pattern) => {
    const parsed = parseAllowPattern(pattern);
    if ('problem' in parsed) throw new TypeError(`an allow pattern ${parsed.problem}`);
    return parsed;
  });
}

/**
 * Checks a URL before any look-up. It is stricter than the WHATWG parser on purpose: it refuses everything that the
 * parser would repair (`http:\\host`, `http://0x7f.1`, tabs, `%31`), because two parsers may repair it differently.
 * `allow` is a list of patterns or the result of `parseAllow`.
 */
export function checkUrl(allow: readonly string[] | readonly AllowPattern[], raw: string): UrlCheckResult {
  const rules = allow.map((entry) => (typeof entry === 'string' ? parseAllow([entry])[0] : entry));
  if (ANYTHING_UNPRINTABLE.test(raw)) return refuse('invalid_url', 'must consist of visible ASCII characters');
  const parts = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]*)/.exec(raw);
  if (!parts || !URL.canParse(raw)) return refuse('invalid_url', 'must be an absolute URL');
  const url = new URL(raw);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return refuse('scheme_not_allowed', 'must be an http or https URL');
  const authority = parts[2];
  if (authority.includes('@')) return refuse('userinfo_not_allowed', 'must not contain a user name or password');
  if (raw.includes('#')) return refuse('fragment_not_allowed', 'must not contain a fragment');
  const host = authority.replace(/:[0-9]*$/, '').toLowerCase();
  if (host !== url.hostname || !isCanonicalHost(host)) {
    return refuse(
      'host_not_canonical',
      `must use the canonical form of its host, "${url.hostname.replace(/\.$/, '')}"`,
    );
  }
  const matching = rules.filter((rule) => matches(rule, url));
  if (matching.length === 0) return refuse('url_not_allowed', OUTSIDE);
  const isLiteral = matching.some((rule) => !rule.isWildcard);
  const address = canonicalAddress(host);
  if (address !== undefined && !isLiteral && addressReachOf(address) !== 'public') {
    return refuse('address_not_allowed', `${host} is not a public address and the allow list does not name it`);
  }
  if (isMetadataName(host) && !isLiteral)
    return refuse('address_not_allowed', `${host} is a metadata service and the allow list does not name it`);
  return { ok: true, url, isLiteral };
}

/** RFC 6761: this name is loopback. Other names that only resolve to loopback are not. */
const LOCALHOST = 'localhost';
const LOOPBACKS = new Set(['127.0.0.1', '[::1]']);

/**
 * The facts about a connection before its address is known: the rule names exactly this host; the port is one of
 * Slipway's own.
 */
export interface AddressRule {
  isLiteral: boolean;
  isOwnPort: boolean;
}

/**
 * Reports whether a connection to `host` may use `address`. This is checked when the name is resolved, and again on the
 * connected socket.
 * A literally named address may be anything. A literally named name may be internal, but never link-local or a metadata
 * service, unless it is the name of such a service.
 * `localhost` may be only loopback. No connection may lead to a port of Slipway on this machine.
 */
export function addressPermitted(host: string, { isLiteral, isOwnPort }: AddressRule, address: string): boolean {
  const named = canonicalAddress(host);
  const actual = canonicalAddress(address);
  if (actual === undefined) return false;
  if (isOwnPort && isOfThisMachine(actual)) return false;
  if (named !== undefined && named !== actual) return false;
  if (named !== undefined && isLiteral) return true;
  if (host === LOCALHOST) return isLiteral && isLoopback(actual);
  if (isLiteral && isMetadataName(host) && isMetadata(actual)) return true;
  const reach = addressReachOf(actual);
  return reach === 'public' || (reach === 'internal' && isLiteral);
}

/** @param address canonical */
function isMetadata(address: string): boolean {
  return isMetadataAddress(address) || isLinkLocal(address);
}

/**
 * Checks the addresses that the name of a checked URL has now, so that a mistake is reported early. Connections check
 * again. A name that cannot be resolved within the time limit passes, because it may have an address later.
 */
export async function checkAddresses(
  check: UrlCheckResult,
  resolve: (host: string) => Promise<readonly { address: string }[]>,
): Promise<UrlCheckResult> {
  if (!check.ok) return check;
  const host = check.url.hostname;
  if (canonicalAddress(host) !== undefined) return check;
  const rule = { isLiteral: check.isLiteral, isOwnPort: false };
  const addresses = await resolve(host).catch(() => []);
  if (addresses.every(({ address }) => addressPermitted(host, rule, address))) return check;
  return refuse('address_not_allowed', `${host} resolves to an address that the allow list does not name`);
}

function matches(rule: AllowPattern, url: URL): boolean {
  if (`${rule.scheme}:` !== url.protocol) return false;
  const port = url.port === '' ? DEFAULT_PORT[rule.scheme] : Number(url.port);
  if (rule.port !== null && rule.port !== port) return false;
  if (!rule.isWildcard) return rule.host === url.hostname || (url.hostname === LOCALHOST && LOOPBACKS.has(rule.host));
  if (rule.host === '') return true;
  return url.hostname.endsWith(`.${rule.host}`) && canonicalAddress(url.hostname) === undefined;
}

function refuse(code: UrlRefusal, message: string): UrlCheckResult {
  return { ok: false, code, message };
}
