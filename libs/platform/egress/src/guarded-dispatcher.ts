import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import { DEFAULT_PORT, KEEP_ALIVE } from '@slipway/contracts';
import { Agent, buildConnector, fetch, type Dispatcher } from 'undici';
import { canonicalAddress, isOfThisMachine, isToThisMachine } from './addresses.js';
import { openTunnel, proxyFor, type OutboundProxy } from './outbound-proxy.js';
import { addressPermitted, checkUrl, parseAllow, type AddressRule } from './rules.js';

/** Resolves a name to all its addresses. The default uses the operating system's resolver, like any other program. */
export type ResolveHost = (hostname: string) => Promise<LookupAddress[]>;

export interface GuardOptions {
  resolve?: ResolveHost;
  /** The time limit in milliseconds for name look-up, TCP and TLS together; 5,000 by default. */
  connectTimeoutMs?: number;
  /**
   * Passed to undici: the pool size per origin, and the milliseconds for headers, for the body and for an idle
   * connection.
   */
  connections?: number;
  headersTimeout?: number;
  bodyTimeout?: number;
  keepAliveTimeout?: number;
  /** Slipway's own ports on this machine. No connection may lead to them, whatever a pattern says. */
  ownPorts?: readonly number[];
  /** For hosts outside of the operator's network. The guard checks the same addresses, and the proxy gets them. */
  proxy?: OutboundProxy;
}

/** The request would have left the allow list, so a retry is useless. The message names the host, never the path. */
export class EgressRefusedError extends Error {
  readonly code = 'EGRESS_REFUSED';
  constructor(message: string) {
    super(message);
    this.name = 'EgressRefusedError';
  }
}

/**
 * Creates a dispatcher for `undici.request` that connects only to hosts that `allow` permits.
 * The origin is checked for every new connection. Each address is checked when it is resolved, and again on the
 * connected socket before a byte of the request is written. The checked address is the one that is dialled, so a name
 * that changes its address gains nothing, with a proxy neither. `ownPorts` are closed on every address of this machine, whatever `allow`
 * says.
 * The known guards (`request-filtering-agent`) are agents for node:http and refuse private addresses, which an operator
 * may name here.
 *
 * `request` follows no redirects, and a caller must not add an interceptor that does. Close it with
 * `close()`/`destroy()`.
 * @throws TypeError for a malformed pattern
 */
export function guardedDispatcher(allow: readonly string[], options: GuardOptions = {}): Dispatcher {
  const { connections, headersTimeout, bodyTimeout, keepAliveTimeout } = options;
  const connect = guardedConnector(allow, options);
  return new Agent({ connections, headersTimeout, bodyTimeout, keepAliveTimeout, connect });
}

/** Opens the connections of `guardedDispatcher`, for another HTTP client. */
export function guardedConnector(allow: readonly string[], options: GuardOptions): buildConnector.connector {
  const rules = parseAllow(allow);
  const { resolve = resolveWithSystem, connectTimeoutMs = 5_000, ownPorts = [], proxy } = options;
  const own = new Set(ownPorts);
  // One connector for each rule: a look-up receives only the name, so its rule must be decided before.
  const connectors = new Map<string, buildConnector.connector>();
  const connectorFor = (rule: AddressRule): buildConnector.connector => {
    const key = `${rule.isLiteral} ${rule.isOwnPort}`;
    const known =
      connectors.get(key) ??
      buildConnector({ ...KEEP_ALIVE, timeout: connectTimeoutMs, lookup: guardedLookup(resolve, rule) });
    connectors.set(key, known);
    return known;
  };

  return (target, callback) => {
    const host = target.hostname.includes(':') ? `[${target.hostname}]` : target.hostname;
    const check = checkUrl(rules, `${target.protocol}//${host}${target.port ? `:${target.port}` : ''}`);
    if (!check.ok) {
      callback(new EgressRefusedError(`${host} ${check.message}`), null);
      return;
    }
    const port = portOf(target);
    const rule = { isLiteral: check.isLiteral, isOwnPort: own.has(port) };
    // `net.connect` does no look-up for an address, so the address is checked here.
    const address = canonicalAddress(host);
    if (address !== undefined && !addressPermitted(host, rule, address)) {
      callback(new EgressRefusedError(`${host} is an address that is not allowed`), null);
      return;
    }
    const direct: buildConnector.connector = (to, done) =>
      connectorFor(rule)(to, (...result) => {
        const [error, socket] = result;
        if (error) {
          done(error, null);
          return;
        }
        const { remoteAddress } = socket;
        const isPermitted = remoteAddress !== undefined && addressPermitted(host, rule, remoteAddress);
        if (!isPermitted || (rule.isOwnPort && isToThisMachine(socket))) {
          socket.destroy();
          done(new EgressRefusedError(`${host} connected to an address that is not allowed`), null);
          return;
        }
        done(null, socket);
      });
    outboundConnector(proxy, direct, { resolve, rule, connectTimeoutMs })(target, callback);
  };
}

/**
 * Returns a `fetch` for addresses that the operator chose, such as those of the identity provider. It calls them through
 * the operator's proxy, and checks nothing.
 */
export function operatorFetch(proxy: OutboundProxy, resolve = resolveWithSystem): typeof globalThis.fetch {
  const direct = buildConnector({ ...KEEP_ALIVE, timeout: OPERATOR_CONNECT_MS });
  const connect = outboundConnector(proxy, direct, { resolve, connectTimeoutMs: OPERATOR_CONNECT_MS });
  const dispatcher = new Agent({ connect });
  const send = (input: string | URL, init?: RequestInit) => fetch(input, { ...(init as object), dispatcher });
  return send as unknown as typeof globalThis.fetch;
}

const OPERATOR_CONNECT_MS = 5_000;

interface TunnelSettings {
  resolve: ResolveHost;
  /** Absent: every address is permitted. */
  rule?: AddressRule;
  connectTimeoutMs: number;
}

function portOf({ port, protocol }: buildConnector.Options): number {
  return Number(port || DEFAULT_PORT[protocol === 'https:' ? 'https' : 'http']);
}

/** Returns a connector that goes through the proxy if the host has one, and else by `direct`. */
function outboundConnector(
  proxy: OutboundProxy | undefined,
  direct: buildConnector.connector,
  settings: TunnelSettings,
): buildConnector.connector {
  return (target, callback) => {
    const { protocol, hostname } = target;
    const port = portOf(target);
    const through = proxy && proxyFor(proxy, { protocol, hostname, port });
    if (!through) {
      direct(target, callback);
      return;
    }
    connectThrough(through, settings, target, port).then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, null),
    );
  };
}

/**
 * Connects to a checked address of the host through a proxy. TLS is that of the host: the proxy sees ciphertext, and the
 * certificate must be valid for the name.
 */
async function connectThrough(
  proxy: URL,
  { resolve, rule, connectTimeoutMs: limitMs }: TunnelSettings,
  target: buildConnector.Options,
  port: number,
): Promise<Socket> {
  const deadline = performance.now() + limitMs;
  // For a connector, 0 is no limit.
  const leftMs = (): number => Math.max(1, deadline - performance.now());
  const known = canonicalAddress(target.hostname);
  const addresses =
    known === undefined
      ? await inTime(permittedAddresses(target.hostname, resolve, rule), leftMs())
      : [{ address: known, family: 0 }];
  const connectTo = (settings: buildConnector.BuildOptions, to: buildConnector.Options): Promise<Socket> =>
    new Promise((done, fail) => {
      buildConnector({ ...KEEP_ALIVE, timeout: leftMs(), ...settings })(to, (...[error, socket]) =>
        error ? fail(error) : done(socket as Socket),
      );
    });
  // The proxy would connect to its own machine.
  if (addresses.some(({ address }) => isOfThisMachine(address)))
    return connectTo({ lookup: guardedLookup(async () => addresses, rule) }, target);
  const socket = await openTunnelToAny(proxy, addresses, port, leftMs());
  socket.setKeepAlive(KEEP_ALIVE.keepAlive, KEEP_ALIVE.keepAliveInitialDelay);
  return target.protocol === 'https:' ? connectTo({}, { ...target, httpSocket: socket }) : socket;
}

/**
 * Tries the addresses one after the other, until the time is over. Each gets an equal part of the time that is left, so
 * that a silent one leaves time for the next.
 */
async function openTunnelToAny(
  proxy: URL,
  addresses: readonly LookupAddress[],
  port: number,
  limitMs: number,
): Promise<Socket> {
  const deadline = performance.now() + limitMs;
  let failure: unknown;
  for (const [index, { address }] of addresses.entries()) {
    const leftMs = (deadline - performance.now()) / (addresses.length - index);
    if (index > 0 && leftMs <= 0) break;
    try {
      return await openTunnel(proxy, { address: canonicalAddress(address) ?? address, port }, leftMs);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** Rejects if a name is not resolved within the limit. The look-up continues, and its result is dropped. */
export function inTime<T>(work: Promise<T>, limitMs: number): Promise<T> {
  return new Promise((done, fail) => {
    const late = Object.assign(new Error('the name was not resolved in time'), { code: 'ETIMEDOUT' });
    const timer = setTimeout(() => fail(late), limitMs);
    work.then(done, fail).finally(() => clearTimeout(timer));
  });
}

/** @throws EgressRefusedError if any of the addresses is not permitted; ENOTFOUND if there is none */
async function permittedAddresses(host: string, resolve: ResolveHost, rule?: AddressRule): Promise<LookupAddress[]> {
  const addresses = await resolve(host);
  if (addresses.length === 0) throw Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' });
  if (rule && !addresses.every(({ address }) => addressPermitted(host, rule, address)))
    throw new EgressRefusedError(`${host} resolves to an address that is not allowed`);
  return addresses;
}

/** Refuses a name if any of its addresses is not permitted, because a mixed answer is a sign of rebinding. */
function guardedLookup(resolve: ResolveHost, rule?: AddressRule): LookupFunction {
  return (hostname, options, callback) => {
    const answer = async (): Promise<LookupAddress[]> => {
      const addresses = await permittedAddresses(hostname, resolve, rule);
      const family = Number(options.family ?? 0);
      const wanted = family === 4 || family === 6 ? addresses.filter((entry) => entry.family === family) : addresses;
      return wanted.length > 0 ? wanted : addresses;
    };
    answer().then(
      (addresses) =>
        options.all ? callback(null, addresses) : callback(null, addresses[0].address, addresses[0].family),
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}

/** Uses the operating system's resolver. */
export function resolveWithSystem(hostname: string): Promise<LookupAddress[]> {
  return new Promise((done, fail) => {
    systemLookup(hostname, { all: true }, (error, addresses) => (error ? fail(error) : done(addresses)));
  });
}
