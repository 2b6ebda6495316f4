import { DEFAULT_PORT, isCanonicalHost, parseAllowPattern, type AllowPattern } from '@slipway/contracts';
import { addressVerdict, canonicalAddress } from './addresses.js';

export type UrlRefusal =
  | 'invalid_url'
  | 'scheme_not_allowed'
  | 'userinfo_not_allowed'
  | 'fragment_not_allowed'
  | 'host_not_canonical'
  | 'url_not_allowed'
  | 'address_not_allowed';

/** `isLiteral`: the rule names this very host, so that it may have an internal address. */
export type UrlVerdict = { ok: true; url: URL; isLiteral: boolean } | { ok: false; code: UrlRefusal; message: string };

const ANYTHING_UNPRINTABLE = /[^\x21-\x7e]|\\/;

/** @throws TypeError naming the first pattern that is none. */
export function parseAllow(patterns: readonly string[]): AllowPattern[] {
  return patterns.map((pattern) => {
    const parsed = parseAllowPattern(pattern);
    if ('problem' in parsed) throw new TypeError(`an allow pattern ${parsed.problem}`);
    return parsed;
  });
}

/**
 * Judges a URL before anything is looked up. Stricter than the WHATWG parser on purpose: what the parser would repair
 * (`http:\\host`, `http://0x7f.1`, tabs, `%31`) is refused, because two parsers may repair it differently.
 * `allow` is a list of patterns or the result of `parseAllow`.
 */
export function checkUrl(allow: readonly string[] | readonly AllowPattern[], raw: string): UrlVerdict {
  const rules = allow.map((entry) => (typeof entry === 'string' ? parseAllow([entry])[0] : entry));
  if (ANYTHING_UNPRINTABLE.test(raw)) return refuse('invalid_url', 'must consist of visible ASCII characters');
  const parts = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]*)/.exec(raw);
  if (!parts || !URL.canParse(raw)) return refuse('invalid_url', 'must be an absolute URL');
  const url = new URL(raw);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return refuse('scheme_not_allowed', 'must be an http or https URL');
  const authority = parts[2];
  if (authority.includes('@')) return refuse('userinfo_not_allowed', 'must not carry a user name or password');
  if (raw.includes('#')) return refuse('fragment_not_allowed', 'must not carry a fragment');
  const host = authority.replace(/:[0-9]*$/, '').toLowerCase();
  if (host !== url.hostname || !isCanonicalHost(host)) {
    return refuse('host_not_canonical', `must spell its host canonically, as "${url.hostname.replace(/\.$/, '')}"`);
  }
  const matching = rules.filter((rule) => matches(rule, url));
  if (matching.length === 0) return refuse('url_not_allowed', "is outside of the target's allow list");
  const isLiteral = matching.some((rule) => !rule.isWildcard);
  const address = canonicalAddress(host);
  if (address !== undefined && !isLiteral && addressVerdict(address) !== 'public') {
    return refuse('address_not_allowed', `${host} is not a public address and the allow list does not name it`);
  }
  return { ok: true, url, isLiteral };
}

/**
 * May a connection to `host` use `address`? Checked when the name was resolved and again on the connected socket.
 * A literally named address may be anything; a literally named name may be internal, but never link-local or metadata.
 */
export function addressPermitted(host: string, isLiteral: boolean, address: string): boolean {
  const named = canonicalAddress(host);
  const actual = canonicalAddress(address);
  if (actual === undefined) return false;
  if (named !== undefined && named !== actual) return false;
  if (named !== undefined && isLiteral) return true;
  const verdict = addressVerdict(actual);
  return verdict === 'public' || (verdict === 'internal' && isLiteral);
}

function matches(rule: AllowPattern, url: URL): boolean {
  if (`${rule.scheme}:` !== url.protocol) return false;
  const port = url.port === '' ? DEFAULT_PORT[rule.scheme] : Number(url.port);
  if (rule.port !== null && rule.port !== port) return false;
  if (!rule.isWildcard) return rule.host === url.hostname;
  if (rule.host === '') return true;
  return url.hostname.endsWith(`.${rule.host}`) && canonicalAddress(url.hostname) === undefined;
}

function refuse(code: UrlRefusal, message: string): UrlVerdict {
  return { ok: false, code, message };
}
