import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { KubeKind } from '../../src/api/kinds.js';
import type { Match, Oddity, StubApi, StubOptions, StubRequest, Verb } from './contract.js';
import { ObjectStore } from './object-store.js';
import { Operations } from './operations.js';
import { expired, notFound, Refusal } from './refusals.js';
import { ALL_KINDS, kindsIn, routed } from './requests-seen.js';
import { Watches } from './watches.js';

interface OddityRule {
  match: Match;
  oddity: Oddity;
  timesLeft: number;
}

const UNITS = new Set(['deployments', 'leaderworkersets']);
const VERBS = ['get', 'list', 'watch', 'create', 'patch', 'delete'];
const DEFAULT_WATCH_SECONDS = 300;

/** Starts a stub on a free port of loopback. */
export async function startStubApi(options: StubOptions = {}): Promise<StubApi> {
  const requests: StubRequest[] = [];
  const told = new Set<OddityRule>();
  const sockets = new Set<Socket>();
  const watches = new Watches();
  let opened = 0;
  let logs = 0;
  let isExpiryAnEvent = false;

  const store = new ObjectStore((written, kind, change) => {
    watches.tell(written);
    if (UNITS.has(kind.plural)) options.onUnit?.(structuredClone(written.last), change, api);
  });

  const server = options.tls ? createTlsServer(options.tls) : createServer();
  server.on('request', ((incoming, response) => void serve(incoming, response)) satisfies RequestListener);
  server.on('connection', (socket: Socket) => {
    opened += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    // After a client has disconnected, Node would keep its connection until the answer, which may never come.
    socket.on('end', () => socket.destroy());
  });
  // Far longer than any test waits, so that connections are only closed on purpose.
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((done, fail) => server.once('error', fail).listen(options.port ?? 0, '127.0.0.1', done));
  const url = `${options.tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bookmarks = options.bookmarkMs && setInterval(() => watches.bookmark(store.version), options.bookmarkMs);

  const odd = (match: Match, oddity: Oddity, times = Infinity): (() => void) => {
    const one = { match, oddity, timesLeft: times };
    told.add(one);
    return () => void told.delete(one);
  };
  const forbiddenBy = new Set<Match>();
  const lacking = new Set<KubeKind>();

  const api: StubApi = {
    url,
    store,
    requests,
    forgetRequests: () => void requests.splice(0),
    cluster: (token) => ({
      server: url,
      tls: { ca: options.tls?.cert, rejectUnauthorized: true },
      authorization: async () => (token === undefined ? undefined : `Bearer ${token}`),
      forget: () => undefined,
      close: () => undefined,
    }),
    odd,
    lacks: (kind) => {
      lacking.add(kind);
      return () => void lacking.delete(kind);
    },
    forbid: (match) => {
      forbiddenBy.add(match);
      return () => void forbiddenBy.delete(match);
    },
    get sockets() {
      return { open: sockets.size, opened, watches: watches.count, logs };
    },
    cutWatches: () => watches.cut(),
    endWatches: () => watches.endAll(),
    freezeWatches: () => watches.freeze(),
    failWatches: (code = 410, reason) => watches.fail(new Refusal(code, 'too old resource version', reason).status),
    bookmark: () => watches.bookmark(store.version),
    inject: (bytes) => watches.inject(bytes),
    replay: (kind, type, object) => watches.replay(kind.plural, type, object),
    compact: (form = 'status') => {
      isExpiryAnEvent = form === 'event';
      store.compact();
      operations.expirePages();
    },
    wipe: () => {
      store.wipe();
      watches.cut();
    },
    close: async () => {
      clearInterval(bookmarks);
      const closed = new Promise((done) => server.close(done));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  const operations = new Operations(store, options, api);
  return api;

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { kind, request } = await routed(incoming);
      requests.push(request);
      if (await isOdd(request, response)) return;
      if (lacking.has(kind)) throw new Refusal(404, '404 page not found', '');
      assertKnown(request);
      await answer(kind, request, response);
    } catch (error) {
      refuse(response, error);
    }
  }

  /**
   * Applies the oddity of a request, if it has one.
   * @returns whether the oddity was the answer
   */
  async function isOdd(request: StubRequest, response: ServerResponse): Promise<boolean> {
    const one = [...told].find(({ match, timesLeft }) => timesLeft > 0 && isMatched(match, request));
    if (!one) return false;
    one.timesLeft -= 1;
    const { oddity } = one;
    if ('silent' in oddity) return true;
    if ('slowMs' in oddity) {
      await new Promise((done) => setTimeout(done, oddity.slowMs));
      return false;
    }
    if ('until' in oddity) {
      await oddity.until;
      return false;
    }
    if ('status' in oddity) {
      const { status, message = 'told to refuse', reason, details, retryAfterSeconds } = oddity;
      throw new Refusal(status, message, reason, details, retryAfterSeconds);
    }
    if ('cut' in oddity) response.socket?.destroy();
    if ('body' in oddity)
      response
        .writeHead(oddity.code ?? 200, { 'content-type': oddity.contentType ?? 'application/json' })
        .end(oddity.body);
    if ('endless' in oddity) await pipeline(Readable.from(endless()), response).catch(() => undefined);
    return true;
  }

  function assertKnown({ authorization, verb, plural, namespace, ...request }: StubRequest): void {
    const token = authorization?.replace(/^Bearer /, '');
    if (options.tokens && (token === undefined || !options.tokens.has(token))) throw new Refusal(401, 'Unauthorized');
    const rule = { verb: verb === 'apply' ? ('patch' as const) : verb, plural, namespace, name: request.name };
    if ([...forbiddenBy].some((match) => isMatched(match, rule)))
      throw new Refusal(403, `${plural} is forbidden: User "stub" cannot ${rule.verb} resource "${plural}"`);
  }

  async function answer(kind: KubeKind, request: StubRequest, response: ServerResponse): Promise<void> {
    const { verb, plural, name = '' } = request;
    if (plural === 'version') return json(response, 200, { gitVersion: 'v1.36.4-stub' });
    if (plural === 'types') return types(kind, response);
    if (verb === 'watch') return watch(request, response);
    if (verb === 'log') return log(kind, request, response);
    if (plural === 'selfsubjectaccessreviews') return json(response, 201, reviewed(request));
    if (plural === 'selfsubjectrulesreviews') return json(response, 201, ruled(request));
    if (verb === 'get' && name === '') throw notFound(plural, name);
    json(response, verb === 'create' ? 201 : 200, operations[verb](kind, request));
  }

  function types(group: KubeKind, response: ServerResponse): void {
    const resources = kindsIn(group).filter((kind) => !lacking.has(kind));
    if (resources.length === 0) throw new Refusal(404, '404 page not found', '');
    json(response, 200, { kind: 'APIResourceList', resources: resources.map(({ plural: name }) => ({ name })) });
  }

  function watch({ plural, namespace, query }: StubRequest, response: ServerResponse): void {
    const missed = store.since(Number(query.resourceVersion));
    if (!missed && !isExpiryAnEvent) throw expired();
    watches.add(
      response,
      {
        plural,
        namespace,
        labelSelector: query.labelSelector,
        hasBookmarks: query.allowWatchBookmarks === 'true',
        timeoutSeconds: Number(query.timeoutSeconds ?? DEFAULT_WATCH_SECONDS),
      },
      missed ?? [],
    );
    if (missed) return;
    response.end(`${JSON.stringify({ type: 'ERROR', object: expired().status })}\n`);
  }

  async function log(
    kind: KubeKind,
    { namespace, name = '', query }: StubRequest,
    response: ServerResponse,
  ): Promise<void> {
    if (!store.get(kind, namespace, name)) throw notFound(kind.plural, name);
    logs += 1;
    response.on('close', () => (logs -= 1));
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.flushHeaders();
    await pipeline(Readable.from(options.log?.(name, query) ?? []), response).catch(() => undefined);
  }

  function reviewed({ body }: StubRequest): unknown {
    const { namespace = '', resource = '', verb, subresource } = body.spec.resourceAttributes;
    return {
      ...body,
      status: { allowed: mayDo({ verb: subresource === 'log' ? 'log' : verb, plural: resource, namespace }) },
    };
  }

  /** A rule for each verb and kind that is allowed, as a Role may list them. */
  function ruled({ body }: StubRequest): unknown {
    const { namespace } = body.spec;
    const resourceRules = ALL_KINDS.flatMap(({ plural, group }) => [
      ...VERBS.filter((verb) => mayDo({ verb: verb as Verb, plural, namespace })).map((verb) => ({
        verbs: [verb],
        apiGroups: [group],
        resources: [plural],
      })),
      ...(plural === 'pods' && mayDo({ verb: 'log', plural, namespace })
        ? [{ verbs: ['get'], apiGroups: [''], resources: ['pods/log'] }]
        : []),
    ]);
    return { ...body, status: { resourceRules, nonResourceRules: [], incomplete: false } };
  }

  function mayDo(asked: Match): boolean {
    return ![...forbiddenBy].some((match) => isMatched(match, asked));
  }
}

const isMatched = (match: Match, request: Match): boolean =>
  Object.entries(match).every(([key, value]) => value === undefined || request[key as keyof Match] === value);

function json(response: ServerResponse, code: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const refusal = error instanceof Refusal ? error : new Refusal(500, String(error));
  const { retryAfterSeconds: seconds, code, status, message } = refusal;
  if (status.reason === '') response.writeHead(code, { 'content-type': 'text/plain' }).end(message);
  else json(response, code, status, seconds === undefined ? {} : { 'retry-after': String(seconds) });
}

function* endless(): Generator<Buffer> {
  const piece = Buffer.alloc(64 * 1024, '[');
  for (;;) yield piece;
}
