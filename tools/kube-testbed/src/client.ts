import { setTimeout } from 'node:timers/promises';
import { withinTime } from '@slipway/contracts';
import { Agent, request, type Dispatcher } from 'undici';
import type { ClusterAccess } from './access.js';
import { PODS, type KubeObject, type Resource } from './objects.js';

const CALL_MS = 30_000;
const MAX_ANSWER_BYTES = 64 * 2 ** 20;
const MAX_LINE_CHARACTERS = 8 * 2 ** 20;

const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';

/** An answer other than success. `reason` is the API's own code, such as `NotFound`. */
export class KubeError extends Error {
  constructor(
    readonly status: number,
    readonly reason: string,
    message: string,
  ) {
    super(message);
    this.name = 'KubeError';
  }
}

export interface WatchEvent<T extends KubeObject = KubeObject> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: T;
}

export interface ListOptions {
  labelSelector?: string;
  fieldSelector?: string;
}

type ObjectPath = { namespace?: string; name?: string; sub?: string };
type Query = Record<string, string | number | boolean | undefined>;

/**
 * Requests of the bed and its tests to the API server. This is not the product's client, so that a fault in that one
 * cannot hide here.
 */
export class KubeClient {
  private readonly agent: Agent;

  constructor(
    readonly access: Pick<ClusterAccess, 'server' | 'ca'>,
    private readonly token: string,
  ) {
    this.agent = new Agent({ connect: { ca: access.ca }, bodyTimeout: 0, headersTimeout: 0 });
  }

  get<T extends KubeObject = KubeObject>(resource: Resource, where: ObjectPath): Promise<T> {
    return this.json<T>('GET', pathOf(resource, where));
  }

  /** Undefined if there is none. */
  async find<T extends KubeObject = KubeObject>(resource: Resource, where: ObjectPath): Promise<T | undefined> {
    return await this.get<T>(resource, where).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
  }

  async list<T extends KubeObject = KubeObject>(
    resource: Resource,
    options: ListOptions & { namespace?: string } = {},
  ): Promise<{ items: T[]; resourceVersion: string }> {
    const { namespace, ...query } = options;
    const found = await this.json<KubeObject & { items: T[] }>('GET', pathOf(resource, { namespace }), { query });
    return { items: found.items ?? [], resourceVersion: found.metadata.resourceVersion ?? '0' };
  }

  /** The body of a custom resource must contain its kind. */
  create<T extends KubeObject = KubeObject>(resource: Resource, body: KubeObject, where: ObjectPath = {}): Promise<T> {
    const namespace = where.namespace ?? body.metadata?.namespace;
    return this.json<T>('POST', pathOf(resource, { ...where, namespace }), {
      body: { apiVersion: resource.api, ...body },
      query: { fieldValidation: 'Strict' },
    });
  }

  /** POST to a subresource. */
  post<T extends KubeObject = KubeObject>(resource: Resource, where: ObjectPath, body: object): Promise<T> {
    return this.json<T>('POST', pathOf(resource, where), { body });
  }

  /** Sends a merge patch. */
  merge<T extends KubeObject = KubeObject>(resource: Resource, where: ObjectPath, body: object): Promise<T> {
    return this.json<T>('PATCH', pathOf(resource, where), { body, contentType: MERGE });
  }

  /** Sends a strategic merge patch, which keeps conditions that others wrote. */
  patch<T extends KubeObject = KubeObject>(resource: Resource, where: ObjectPath, body: object): Promise<T> {
    return this.json<T>('PATCH', pathOf(resource, where), { body, contentType: STRATEGIC });
  }

  /** Does nothing if the object is already gone. */
  async remove(
    resource: Resource,
    where: ObjectPath,
    options: { graceSeconds?: number; uid?: string; isOrphaning?: boolean } = {},
  ): Promise<void> {
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      ...(options.isOrphaning && { propagationPolicy: 'Orphan' }),
      ...(options.graceSeconds === undefined ? {} : { gracePeriodSeconds: options.graceSeconds }),
      ...(options.uid === undefined ? {} : { preconditions: { uid: options.uid } }),
    };
    await this.json('DELETE', pathOf(resource, where), { body }).catch((error: unknown) => {
      if (!isNotFound(error) && !(options.uid !== undefined && error instanceof KubeError && error.status === 409))
        throw error;
    });
  }

  /** Evicts a pod as `kubectl drain` does. @throws KubeError with 429 if a budget forbids it */
  async evict(namespace: string, pod: string): Promise<void> {
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace } };
    await this.post(PODS, { namespace, name: pod, sub: 'eviction' }, body);
  }

  /** Returns the text of `pods/log`. */
  async log(namespace: string, pod: string, query: Query = {}): Promise<string> {
    const { body } = await this.ask('GET', pathOf(PODS, { namespace, name: pod, sub: 'log' }), { query });
    return body.toString('utf8');
  }

  /**
   * Yields events until the server ends the watch or the signal fires.
   * @throws KubeError, also for an event of type ERROR
   */
  async *watch<T extends KubeObject = KubeObject>(
    resource: Resource,
    options: ListOptions & { namespace?: string; resourceVersion: string; signal: AbortSignal },
  ): AsyncGenerator<WatchEvent<T>> {
    const { namespace, signal, ...where } = options;
    const query = { ...where, watch: true, allowWatchBookmarks: true, timeoutSeconds: 300 };
    const answer = await this.send('GET', pathOf(resource, { namespace }), { query, signal });
    if (answer.statusCode !== 200) throw errorOf(answer.statusCode, await bytesOf(answer.body));
    let begun = '';
    answer.body.setEncoding('utf8');
    for await (const chunk of answer.body as AsyncIterable<string>) {
      const lines = (begun + chunk).split('\n');
      begun = lines.pop() ?? '';
      if (begun.length > MAX_LINE_CHARACTERS) throw new Error('the watch sends a line without an end');
      for (const line of lines.filter((one) => one !== '')) {
        const event = JSON.parse(line) as WatchEvent<T>;
        if (event.type === 'ERROR') throw errorOf(Number(event.object['code']), Buffer.from(line), event.object);
        yield event;
      }
    }
  }

  /** Requests any path, such as `/readyz`, and returns the text of the answer. */
  async raw(method: 'GET' | 'POST', path: string, body?: object): Promise<string> {
    return (await this.ask(method, path, { body })).body.toString('utf8');
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }

  private async json<T extends KubeObject>(
    method: Dispatcher.HttpMethod,
    path: string,
    options: { body?: object; contentType?: string; query?: Query } = {},
  ): Promise<T> {
    const { body } = await this.ask(method, path, options);
    return JSON.parse(body.toString('utf8')) as T;
  }

  private ask(
    method: Dispatcher.HttpMethod,
    path: string,
    options: { body?: object; contentType?: string; query?: Query },
  ): Promise<{ body: Buffer }> {
    return withinTime(CALL_MS, undefined, async (signal) => {
      for (;;) {
        const answer = await this.send(method, path, { ...options, signal });
        const body = await bytesOf(answer.body);
        if (answer.statusCode < 300) return { body };
        const error = errorOf(answer.statusCode, body);
        if (!isInitializing(error)) throw error;
        await setTimeout(200, undefined, { signal });
      }
    });
  }

  private send(
    method: Dispatcher.HttpMethod,
    path: string,
    options: { body?: object; contentType?: string; query?: Query; signal: AbortSignal },
  ): Promise<Dispatcher.ResponseData> {
    const { body, contentType, query, signal } = options;
    const url = new URL(path, this.access.server);
    for (const [name, value] of Object.entries(query ?? {}))
      if (value !== undefined) url.searchParams.set(name, String(value));
    return request(url, {
      method,
      dispatcher: this.agent,
      signal,
      headers: {
        authorization: `Bearer ${this.token}`,
        accept: 'application/json, */*',
        ...(body ? { 'content-type': contentType ?? 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  }
}

/**
 * For a second or more, a new type answers like this even after it is reported as established. Such a request had no
 * effect.
 */
function isInitializing({ status, message }: KubeError): boolean {
  return status === 429 && message.includes('storage is (re)initializing');
}

/** Whether the server answered that the object does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof KubeError && error.status === 404;
}

/** The URL path of a resource, such as `/apis/apps/v1/namespaces/models/deployments/one`. */
export function pathOf(resource: Resource, { namespace, name, sub }: ObjectPath): string {
  const parts = [
    resource.api.includes('/') ? 'apis' : 'api',
    ...resource.api.split('/'),
    ...(namespace === undefined ? [] : ['namespaces', namespace]),
    resource.plural,
    ...(name === undefined ? [] : [name]),
    ...(sub === undefined ? [] : [sub]),
  ];
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

async function bytesOf(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the API server sends more than ${MAX_ANSWER_BYTES} bytes`);
  }
  return Buffer.concat(chunks);
}

function errorOf(status: number, body: Buffer, parsed?: KubeObject): KubeError {
  const text = body.toString('utf8');
  try {
    const said = parsed ?? (JSON.parse(text) as KubeObject);
    return new KubeError(status, String(said['reason'] ?? ''), String(said['message'] ?? text.slice(0, 500)));
  } catch {
    return new KubeError(status, '', text.slice(0, 500));
  }
}
