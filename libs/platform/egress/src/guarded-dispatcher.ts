import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { DEFAULT_PORT } from '@slipway/contracts';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { canonicalAddress } from './addresses.js';
import { addressPermitted, checkUrl, parseAllow, type AddressRule } from './rules.js';

/** Resolves a name to every address it has. The default asks the operating system, as any other program would. */
export type ResolveHost = (hostname: string) => Promise<LookupAddress[]>;

export interface GuardOptions {
  resolve?: ResolveHost;
  /** Milliseconds for name look-up, TCP and TLS together; 5,000 by default. */
  connectTimeoutMs?: number;
  /** Passed on to undici: pool size per origin; milliseconds of headers, body, and of a connection that is not used. */
  connections?: number;
  headersTimeout?: number;
  bodyTimeout?: number;
  keepAliveTimeout?: number;
  /** Ports of this machine that no connection may lead to, whatever a pattern says: Slipway's own. */
  ownPorts?: readonly number[];
}

/** The request would have left the allow list. Not worth a retry. The message names the host, never the path. */
export class EgressRefusedError extends Error {
  readonly code = 'EGRESS_REFUSED';
  constructor(message: string) {
    super(message);
    this.name = 'EgressRefusedError';
  }
}

/**
 * A dispatcher for `undici.request` that connects only to what `allow` permits. The origin is checked for every new
 * connection, each address when it is resolved (the checked address is the one that is dialled, so a name that changes
 * its mind gains nothing) and once more on the connected socket, before a byte of the request is written. `ownPorts` are closed on every
 * address of this machine, whatever `allow` says. The known guards (`request-filtering-agent`) are agents of node:http and refuse private
 * addresses, which an operator here may name.
 *
 * `request` follows no redirects, and a caller must not add an interceptor that does. Close it with `close()`/`destroy()`.
 * @throws TypeError for a malformed pattern.
 */
export function guardedDispatcher(allow: readonly string[], options: GuardOptions = {}): Dispatcher {
  const rules = parseAllow(allow);
  const { resolve = resolveWithSystem, connectTimeoutMs = 5_000, ownPorts = [], ...agentOptions } = options;
  const own = new Set(ownPorts);
  // Connectors by rule, because a look-up learns only the name: what its addresses may be is decided before.
  const connectors = new Map<string, buildConnector.connector>();
  const connectorFor = (rule: AddressRule): buildConnector.connector => {
    const key = `${rule.isLiteral} ${rule.isOwnPort}`;
    const known =
      connectors.get(key) ?? buildConnector({ timeout: connectTimeoutMs, lookup: guardedLookup(resolve, rule) });
    connectors.set(key, known);
    return known;
  };

  const connect: buildConnector.connector = (target, callback) => {
    const host = target.hostname.includes(':') ? `[${target.hostname}]` : target.hostname;
    const check = checkUrl(rules, `${target.protocol}//${host}${target.port ? `:${target.port}` : ''}`);
    if (!check.ok) {
      callback(new EgressRefusedError(`${host} ${check.message}`), null);
      return;
    }
    const port = Number(target.port || DEFAULT_PORT[target.protocol === 'https:' ? 'https' : 'http']);
    const rule = { isLiteral: check.isLiteral, isOwnPort: own.has(port) };
    // `net.connect` looks nothing up for an address: it is judged here.
    const address = canonicalAddress(host);
    if (address !== undefined && !addressPermitted(host, rule, address)) {
      callback(new EgressRefusedError(`${host} is an address that is not allowed`), null);
      return;
    }
    connectorFor(rule)(target, (...result) => {
      const [error, socket] = result;
      if (error) {
        callback(error, null);
        return;
      }
      if (socket.remoteAddress === undefined || !addressPermitted(host, rule, socket.remoteAddress)) {
        socket.destroy();
        callback(new EgressRefusedError(`${host} connected to an address that is not allowed`), null);
        return;
      }
      callback(null, socket);
    });
  };
  return new Agent({ ...agentOptions, connect });
}

/** Refuses a name when any of its addresses is not permitted: a mixed answer is how rebinding looks from here. */
function guardedLookup(resolve: ResolveHost, rule: AddressRule): LookupFunction {
  return (hostname, options, callback) => {
    const answer = async (): Promise<LookupAddress[]> => {
      const addresses = await resolve(hostname);
      if (addresses.length === 0) throw Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
      if (!addresses.every(({ address }) => addressPermitted(hostname, rule, address))) {
        throw new EgressRefusedError(`${hostname} resolves to an address that is not allowed`);
      }
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

function resolveWithSystem(hostname: string): Promise<LookupAddress[]> {
  return new Promise((done, fail) => {
    systemLookup(hostname, { all: true }, (error, addresses) => (error ? fail(error) : done(addresses)));
  });
}
