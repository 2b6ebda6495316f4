import type { IncomingMessage } from 'node:http';
import * as KINDS from '../../src/api/kinds.js';
import type { KubeKind } from '../../src/api/kinds.js';
import type { StubRequest, Verb } from './contract.js';
import { Refusal } from './refusals.js';

/** The kinds that the stub serves. */
export const ALL_KINDS = Object.values(KINDS).filter(
  (value): value is KubeKind => typeof value === 'object' && 'plural' in value,
);
const PATH =
  /^\/(?:api|apis\/(?<group>[^/]+))\/(?<version>[^/]+)(?:\/namespaces\/(?<namespace>[^/]+))?\/(?<plural>[a-z]+)(?:\/(?<name>[^/]+)(?:\/(?<sub>log))?)?$/;
/** Requests about the server itself. Oddities may name them as `plural: 'version'` and `plural: 'types'`. */
const VERSION: KubeKind = { group: '', version: '', plural: 'version', kind: '' };
const TYPES_PATH = /^\/(?:api|apis\/(?<group>[^/]+))\/(?<version>[^/]+)$/;
const MOST_BYTES = 3 * 1024 * 1024;

export interface RoutedRequest {
  kind: KubeKind;
  request: StubRequest;
}

/** The server's kinds of a group. */
export const kindsIn = ({ group, version }: KubeKind): KubeKind[] =>
  ALL_KINDS.filter((one) => one.group === group && one.version === version);

/**
 * Parses a request.
 * @throws Refusal for a path that the stub does not have
 */
export async function routed(incoming: IncomingMessage): Promise<RoutedRequest> {
  const url = new URL(incoming.url ?? '/', 'http://stub');
  const { group = '', version, namespace = '', plural, name, sub } = PATH.exec(url.pathname)?.groups ?? {};
  const types = TYPES_PATH.exec(url.pathname)?.groups;
  const ofGroup = types && { group: types.group ?? '', version: types.version ?? '', plural: 'types', kind: '' };
  const own = url.pathname === '/version' ? VERSION : ofGroup;
  const kind = own
    ? own
    : ALL_KINDS.find((one) => one.plural === plural && one.group === group && one.version === version);
  if (!kind) throw new Refusal(404, '404 page not found', '');
  const query = Object.fromEntries(url.searchParams);
  const text = await bodyOf(incoming);
  return {
    kind,
    request: {
      verb: own ? 'get' : verbOf(incoming, query, name, sub),
      plural: kind.plural,
      namespace,
      name,
      query,
      body: text === '' ? undefined : (JSON.parse(text) as unknown),
      authorization: incoming.headers.authorization,
      at: Date.now(),
    },
  };
}

function verbOf(
  { method, headers }: IncomingMessage,
  query: Record<string, string>,
  name?: string,
  sub?: string,
): Verb {
  if (sub === 'log') return 'log';
  if (method === 'POST') return 'create';
  if (method === 'DELETE') return 'delete';
  if (method === 'PATCH') return headers['content-type'] === 'application/apply-patch+yaml' ? 'apply' : 'patch';
  if (name !== undefined) return 'get';
  return query.watch === 'true' ? 'watch' : 'list';
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Refusal(413, 'Request entity too large: limit is 3145728');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
