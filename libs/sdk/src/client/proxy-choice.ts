import { SlipwayError } from './errors.js';
import { nodeModule } from './node-modules.js';

export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

export interface ChosenProxy {
  url: URL;
  /** The variable that names it. Messages show it, and never the URL: that may contain a password. */
  variable: string;
}

/** As curl assumes it for a proxy without a port. */
const USUAL_PORT = { 'http:': '1080', 'https:': '443' } as const;

/**
 * Returns the proxy for a URL by the rules of curl, or undefined if the server is called directly.
 * @throws connection_failed if the variable names no http or https proxy: a repetition would not help
 */
export function proxyFor(url: URL, env: ProxyEnvironment): ChosenProxy | undefined {
  const variable = [...variablesFor(url, env), 'all_proxy', 'ALL_PROXY'].find((name) => env[name]);
  if (variable === undefined || isExcluded(url, env['no_proxy'] || env['NO_PROXY'] || '')) return undefined;
  return { url: proxyUrlOf(env[variable]!, variable), variable };
}

/** A header `Proxy` becomes HTTP_PROXY in CGI programs, so a client of theirs could choose the proxy. */
function variablesFor({ protocol }: URL, env: ProxyEnvironment): string[] {
  if (protocol === 'https:') return ['https_proxy', 'HTTPS_PROXY'];
  return env['REQUEST_METHOD'] === undefined ? ['http_proxy', 'HTTP_PROXY'] : ['http_proxy'];
}

function proxyUrlOf(value: string, variable: string): URL {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value.trim()) ? value.trim() : `http://${value.trim()}`;
  if (!URL.canParse(text)) throw invalid(`${variable} is not a valid URL of a proxy.`);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw invalid(`${variable} names a proxy of the kind ${url.protocol.slice(0, -1)}: use http:// or https://.`);
  // A URL drops the usual port of its own scheme, so the text shows whether there is one.
  const authority = /^[^/]*\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(text)![1]!;
  if (!/:\d+$/.test(authority)) url.port = USUAL_PORT[url.protocol];
  return url;
}

const invalid = (message: string): SlipwayError =>
  new SlipwayError(message, { code: 'connection_failed', retryable: false });

/** Whether NO_PROXY lists the host: a name with all names below it, an address, a network, or `*` alone for all hosts. */
function isExcluded(url: URL, list: string): boolean {
  if (list.trim() === '*') return true;
  const host = hostOf(url).replace(/\.$/, '');
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((rule) => isCovered(rule, host, port));
}

function isCovered(rule: string, host: string, port: string): boolean {
  if (rule.includes('/')) return isInNetwork(rule, host);
  const [, bracketed, named = bracketed ?? rule, onlyPort] = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(rule) ?? [];
  if (onlyPort !== undefined && onlyPort !== port) return false;
  if (named.includes(':')) return canonicalV6(named) === canonicalV6(host);
  const name = named.replace(/^(\*?\.)/, '').replace(/\.$/, '');
  if (name === '') return false;
  return host === name || (!isAddress(host) && host.endsWith(`.${name}`));
}

/** The host without the brackets of an IPv6 address. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

const isAddress = (host: string): boolean => host.includes(':') || /^\d+(\.\d+){3}$/.test(host);

function canonicalV6(address: string): string {
  return URL.canParse(`http://[${address}]`) ? new URL(`http://[${address}]`).hostname : address;
}

function isInNetwork(rule: string, host: string): boolean {
  const [network = '', bits = ''] = rule.replace(/[[\]]/g, '').split('/');
  const { BlockList, isIP } = nodeModule('node:net');
  const version = isIP(network);
  if (version === 0 || isIP(host) !== version || !/^\d{1,3}$/.test(bits)) return false;
  if (Number(bits) > (version === 6 ? 128 : 32)) return false;
  const family = version === 6 ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family);
  return list.check(host, family);
}
