/** Which URLs of media a request may name. `data:` URLs are never refused: an engine fetches nothing for them. */
export const MEDIA_URL_RULES = ['any', 'data_only', 'hosts'] as const;

export interface MediaUrls {
  allow: (typeof MEDIA_URL_RULES)[number];
  /** With `hosts`: names of hosts, with a port if it is not the scheme's own, or `*.` and the end of a name. */
  hosts: string[];
}

export const ANY_MEDIA_URL: MediaUrls = { allow: 'any', hosts: [] };
/** Of published slugs, whose clients the owner of the engine may not know. */
export const DATA_URLS_ONLY: MediaUrls = { allow: 'data_only', hosts: [] };

/** Where an engine finds the media of a URL. `other`: anywhere else, or not the same for all readers of URLs. */
export type MediaSource = { kind: 'data' } | { kind: 'host'; host: string } | { kind: 'other' };

const DATA: MediaSource = { kind: 'data' };
const OTHER: MediaSource = { kind: 'other' };

/**
 * A URL of which every reader takes the same host: no user, no backslash, no dot at the end, a host in ASCII, and a
 * slash after it.
 */
const PLAIN_URL = /^https?:\/\/([a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?(?:\/|$)/i;
/** Spaces, control characters and backslashes: some readers drop or replace them, others end the URL there. */
const READ_DIFFERENTLY = /[\u0000-\u0020\u007f\\]/;

/** Reads a URL by the standard of the WHATWG, and refuses to decide if another reader could find another host in it. */
export function mediaSourceOf(text: string): MediaSource {
  if (/^data:/i.test(text)) return DATA;
  const written = PLAIN_URL.exec(text)?.[1]?.toLowerCase();
  if (written === undefined || written.endsWith('.') || READ_DIFFERENTLY.test(text) || !URL.canParse(text))
    return OTHER;
  const { hostname, host } = new URL(text);
  // `0x7f.1` and `2130706433` are other spellings of an address.
  return hostname === written ? { kind: 'host', host } : OTHER;
}

export function isMediaAllowed({ allow, hosts }: MediaUrls, source: MediaSource): boolean {
  if (allow === 'any' || source.kind === 'data') return true;
  if (allow === 'data_only' || source.kind === 'other') return false;
  const { host } = source;
  return hosts.some((one) => (one.startsWith('*.') ? host.endsWith(one.slice(1)) : host === one));
}

/** Returns an entry of `hosts` as it is compared; undefined if it names no host. */
export function mediaHostOf(entry: string): string | undefined {
  const isWildcard = entry.startsWith('*.');
  const name = isWildcard ? entry.slice(2) : entry;
  if (name.includes('/')) return undefined;
  const source = mediaSourceOf(`https://${name}/`);
  // An end of a name with one label would be a whole top-level domain, and the end of an address is no address.
  if (source.kind !== 'host' || (isWildcard && !/^(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*(?::\d+)?$/.test(source.host)))
    return undefined;
  return isWildcard ? `*.${source.host}` : source.host;
}
