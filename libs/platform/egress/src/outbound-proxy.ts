import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { BlockList, isIP, type Socket } from 'node:net';
import { canonicalAddress, isLoopback } from './addresses.js';

/** The proxy for requests that leave the operator's network. Engines are never called through it. */
export interface OutboundProxy {
  /** Proxies for http and https URLs: `http://` or `https://`, with a user and a password if it needs them. */
  http?: string;
  https?: string;
  /** Hosts that are called directly, as in NO_PROXY: names with all names below them, addresses, networks, `*`. */
  none: readonly string[];
}

/** The proxy refused to connect, or did not answer as one. The message names neither the proxy nor its password. */
export class ProxyRefusedError extends Error {
  readonly code = 'PROXY_REFUSED';
}

/** Returns the proxy for a host, or undefined if it is called directly. This machine is always called directly. */
export function proxyFor(
  { http, https, none }: OutboundProxy,
  { protocol, hostname, port }: { protocol: string; hostname: string; port: number },
): URL | undefined {
  const proxy = protocol === 'https:' ? https : http;
  if (proxy === undefined) return undefined;
  const address = canonicalAddress(hostname);
  if (hostname === 'localhost' || (address !== undefined && isLoopback(address))) return undefined;
  return none.some((rule) => isCovered(rule.trim().toLowerCase(), address ?? hostname, port))
    ? undefined
    : new URL(proxy);
}

function isCovered(rule: string, host: string, port: number): boolean {
  if (rule === '') return false;
  if (rule === '*') return true;
  if (rule.includes('/')) return isInNetwork(rule, host);
  const [named, onlyPort] = splitPort(rule);
  if (onlyPort !== undefined && onlyPort !== String(port)) return false;
  const address = canonicalAddress(named);
  if (address !== undefined) return address === host;
  const name = named.replace(/^\*?\.?/, '');
  return name !== '' && (host === name || host.endsWith(`.${name}`));
}

/** An address with several colons has a port only after brackets. */
function splitPort(rule: string): [named: string, port?: string] {
  const end = rule.startsWith('[') ? rule.indexOf(']') + 1 : rule.indexOf(':');
  if (end <= 0 || rule[end] !== ':' || rule.includes(':', end + 1)) return [rule];
  return [rule.slice(0, end), rule.slice(end + 1)];
}

function isInNetwork(rule: string, host: string): boolean {
  const [network = '', bits = ''] = rule.split('/');
  const version = isIP(network);
  if (version === 0 || isIP(host) !== version || !/^\d{1,3}$/.test(bits)) return false;
  const family = version === 6 ? 'ipv6' : 'ipv4';
  if (Number(bits) > (version === 6 ? 128 : 32)) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family);
  return list.check(host, family);
}

/**
 * Opens a connection to an address through a proxy. The proxy receives the address that was checked, never the name: it
 * would look the name up again.
 * @throws ProxyRefusedError; any other error if the proxy cannot be reached in time
 */
export function openTunnel(proxy: URL, to: { address: string; port: number }, limitMs: number): Promise<Socket> {
  const authority = `${to.address.includes(':') ? `[${to.address}]` : to.address}:${to.port}`;
  const credentials = [proxy.username, proxy.password].map(decodeURIComponent).join(':');
  return new Promise((resolve, reject) => {
    const send = proxy.protocol === 'https:' ? tlsRequest : plainRequest;
    const request = send({
      method: 'CONNECT',
      host: proxy.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      path: authority,
      agent: false,
      headers: {
        host: authority,
        ...(proxy.username !== '' && { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` }),
      },
    });
    const timer = setTimeout(
      () => request.destroy(Object.assign(new Error('the proxy did not connect in time'), { code: 'ETIMEDOUT' })),
      limitMs,
    );
    request.once('connect', ({ statusCode = 0 }, socket, head) => {
      clearTimeout(timer);
      if (statusCode < 200 || statusCode > 299) {
        socket.destroy();
        reject(new ProxyRefusedError(`the proxy refused to connect (status ${statusCode})`));
        return;
      }
      if (head.length > 0) socket.unshift(head);
      resolve(socket as Socket);
    });
    request.once('response', (response) => {
      response.destroy();
      reject(new ProxyRefusedError('the proxy did not answer as a proxy'));
    });
    request.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    request.end();
  });
}
