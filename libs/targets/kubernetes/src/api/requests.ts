import type { KubeCluster } from './cluster.js';
import { boundedStream } from './bounded-stream.js';
import { ApiError, type ApiCall } from './errors.js';
import { keepForeignFields } from './field-owners.js';
import {
  apiVersionOf,
  groupPathOf,
  pathOf,
  PODS,
  SELF_SUBJECT_ACCESS_REVIEWS,
  SELF_SUBJECT_RULES_REVIEWS,
  type KubeKind,
} from './kinds.js';
import type { KubeList, KubeObject } from './objects.js';
import { Transport, type ApiRequest, type TransportOptions } from './transport.js';

export interface ListOptions {
  labelSelector?: string;
  fieldSelector?: string;
  /** At most this many objects, from one page. Absent: all objects. */
  limit?: number;
  /** After failures, the call waits until it may be sent or the signal fires. */
  patience?: AbortSignal;
}

export interface ListAnswer<T> {
  items: T[];
  /** The version from which the watch continues. */
  resourceVersion: string;
}

export interface ApplyOptions {
  /** The owner of the fields. Fields that it applied before and now leaves out are removed. */
  manager: string;
  /** Takes fields from other managers instead of failing with reason `Conflict`. */
  force: boolean;
}

export interface DeleteOptions {
  /** Deletes only the object of this uid, never another one that now has its name. */
  uid?: string;
  graceSeconds?: number;
  /** Deletes it last, after everything that it owns. */
  isLast?: boolean;
}

export interface PodLogOptions {
  container?: string;
  tailLines?: number;
  limitBytes?: number;
  /** Reads the previous life of the container. */
  previous?: boolean;
  follow?: boolean;
  /** RFC 3339. */
  sinceTime?: string;
  timestamps?: boolean;
  signal?: AbortSignal;
}

export interface WatchOptions {
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion: string;
  /** The server ends the watch regularly after this time. */
  timeoutSeconds: number;
}

/** One thing that a Role allows. */
export interface AccessRule {
  group: string;
  resource: string;
  subresource?: string;
  verb: string;
}

/** A rule of `SelfSubjectRulesReview`. `*` stands for everything. */
export interface GrantedRule {
  verbs?: string[];
  apiGroups?: string[];
  /** `pods`, `pods/log`, `*`, `pods/*`. */
  resources?: string[];
  /** Not empty: only objects of these names. */
  resourceNames?: string[];
}

export interface GrantedRules {
  rules: GrantedRule[];
  /** An authorizer of the server cannot list its rules, so more may be allowed. */
  isIncomplete: boolean;
}

const PAGE = 500;
/** 100,000 objects: more than one of our targets can have. A server with endless pages is broken. */
const MAX_PAGES = 200;
/** How often a list starts again if its next page has expired. */
const MAX_LISTS = 3;
const MAX_LOG_BYTES = 10 * 1024 * 1024;
/** A log that is not followed may take as long as two calls, because it comes from a node. */
const LOG_CALLS = 2;
const FIELD_MANAGER = 'slipway';

/**
 * An API server, as far as the target needs it. Each call has one time limit and ends in one of three ways: with its
 * answer, with `ApiError` (the server refused), or with `UnreachableError` (it is unknown whether the call had an
 * effect). Objects have `foreign` instead of `managedFields`, and are otherwise unchanged.
 */
export class KubeApi {
  private readonly transport: Transport;

  constructor(
    private readonly cluster: KubeCluster,
    options: TransportOptions = {},
  ) {
    this.transport = new Transport(cluster, options);
  }

  get server(): string {
    return this.cluster.server;
  }

  /** By `performance.now()`. When the server last answered any client of this process. */
  get lastAnswerAt(): number {
    return this.transport.gate.budget.lastAnswerAt;
  }

  /** The last refusal of this creation, while it waits for its next try. */
  refusalOf(kind: KubeKind, namespace: string, name: string): ApiError | undefined {
    return this.transport.gate.refusalOf(callOf('create', kind, namespace, name));
  }

  /** Milliseconds until this creation may be sent again. */
  creationWaitMs(kind: KubeKind, namespace: string, name: string): number {
    return this.transport.gate.waitMs(callOf('create', kind, namespace, name));
  }

  /** The cause of refusals may be over, so the next call need not wait for its time. */
  reopen(isConcerned: (call: ApiCall) => boolean): void {
    this.transport.gate.reopen(isConcerned);
  }

  /** The server's own version, `v1.36.4`. The cheapest check of whether it answers. */
  async version(timeoutMs?: number): Promise<string> {
    const call = { verb: 'get', resource: 'version', group: '', namespace: '' };
    const answer = await this.transport.json({ method: 'GET', path: '/version', call, timeoutMs });
    const { gitVersion } = this.mapping(answer, 'a version');
    return typeof gitVersion === 'string' ? gitVersion.slice(0, 100) : 'unknown';
  }

  /** Undefined if no object has that name. */
  async get<T extends KubeObject>(kind: KubeKind, namespace: string, name: string): Promise<T | undefined> {
    const call = callOf('get', kind, namespace, name);
    try {
      const answer = await this.transport.json({ method: 'GET', path: pathOf(kind, namespace, name), call });
      const object = this.object<T>(answer);
      if (object.metadata.name !== name) throw this.invalid(`${kind.plural} ${name}`);
      return object;
    } catch (error) {
      if (error instanceof ApiError && error.isNotFound) return undefined;
      throw error;
    }
  }

  /** The current objects of the cluster, never from a cache that lags. */
  async list<T extends KubeObject>(
    kind: KubeKind,
    namespace: string,
    options: ListOptions = {},
  ): Promise<ListAnswer<T>> {
    for (let lists = 1; ; lists += 1) {
      try {
        return await this.pages<T>(kind, namespace, options);
      } catch (error) {
        if (!(error instanceof ApiError && error.isExpired) || lists === MAX_LISTS) throw error;
      }
    }
  }

  /**
   * @throws ApiError with reason `AlreadyExists`; with 400 for a field that the server does not know; with 422 for a
   * value that it refuses
   */
  async create<T extends KubeObject>(kind: KubeKind, namespace: string, object: KubeObject): Promise<T> {
    const call = callOf('create', kind, namespace, object.metadata.name);
    const query = { fieldManager: FIELD_MANAGER, fieldValidation: 'Strict' };
    return this.write<T>(kind, { method: 'POST', path: pathOf(kind, namespace), query, call }, object);
  }

  /** Server-side apply: creates the object, or sets the fields that `object` names. */
  async apply<T extends KubeObject>(
    kind: KubeKind,
    namespace: string,
    object: KubeObject,
    { manager, force }: ApplyOptions,
  ): Promise<T> {
    const { name } = object.metadata;
    return this.write<T>(
      kind,
      {
        method: 'PATCH',
        path: pathOf(kind, namespace, name),
        query: { fieldManager: manager, force, fieldValidation: 'Strict' },
        // The name says YAML, and JSON is valid YAML.
        contentType: 'application/apply-patch+yaml',
        call: callOf('patch', kind, namespace, name),
      },
      object,
    );
  }

  /**
   * Merge patch of an existing object: sets its fields, replaces lists as a whole, and removes fields that are null, of
   * whatever manager they are.
   */
  async merge<T extends KubeObject>(kind: KubeKind, namespace: string, object: KubeObject): Promise<T> {
    const { name } = object.metadata;
    return this.write<T>(
      kind,
      {
        method: 'PATCH',
        path: pathOf(kind, namespace, name),
        query: { fieldManager: FIELD_MANAGER, fieldValidation: 'Strict' },
        contentType: 'application/merge-patch+json',
        call: callOf('patch', kind, namespace, name),
      },
      object,
    );
  }

  /**
   * Deletes an object and everything that it owns. Also succeeds if it no longer exists, or if another object now has
   * its name (`uid`).
   */
  async delete(kind: KubeKind, namespace: string, name: string, options: DeleteOptions = {}): Promise<void> {
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: options.isLast ? 'Foreground' : 'Background',
      ...(options.uid === undefined ? {} : { preconditions: { uid: options.uid } }),
      ...(options.graceSeconds === undefined ? {} : { gracePeriodSeconds: options.graceSeconds }),
    };
    const call = callOf('delete', kind, namespace, name);
    try {
      await this.transport.json({ method: 'DELETE', path: pathOf(kind, namespace, name), body, call });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const isAnother = options.uid !== undefined && error.status === 409 && error.reason === 'Conflict';
      if (!error.isNotFound && !isAnother) throw error;
    }
  }

  /**
   * Output of a container, in the pieces in which it arrives. Without `follow` it has at most `limitBytes` (10 MiB) and
   * a minute. With it, it ends when the signal fires, the container ends or the connection breaks.
   *
   * @throws ApiError before the first byte; reading it throws `UnreachableError` if the connection breaks
   */
  async log(namespace: string, pod: string, options: PodLogOptions = {}): Promise<AsyncIterable<Buffer>> {
    const { signal, ...query } = options;
    const most = Math.min(options.limitBytes ?? MAX_LOG_BYTES, MAX_LOG_BYTES);
    const request: ApiRequest = {
      method: 'GET',
      path: pathOf(PODS, namespace, pod, 'log'),
      query: { ...query, limitBytes: options.follow ? options.limitBytes : most },
      call: { ...callOf('get', PODS, namespace, pod), resource: 'pods/log' },
    };
    const limits = {
      signal,
      mostBytes: options.follow ? (options.limitBytes ?? Infinity) : most,
      withinMs: options.follow ? undefined : this.transport.callTimeoutMs * LOG_CALLS,
    };
    return boundedStream(
      (ended) => this.transport.stream(request, ended),
      limits,
      (error) => this.transport.unreachableBy(error),
    );
  }

  /** Whether the Role of the target allows this in the namespace. */
  async review(namespace: string, { group, resource, subresource, verb }: AccessRule): Promise<boolean> {
    const resourceAttributes = { namespace, group, resource, subresource, verb };
    const { allowed } = await this.reviewed(SELF_SUBJECT_ACCESS_REVIEWS, { resourceAttributes });
    if (typeof allowed !== 'boolean') throw this.invalid('a review');
    return allowed;
  }

  /** Everything that the account may do in the namespace, as far as the server can list it. */
  async rules(namespace: string): Promise<GrantedRules> {
    const { resourceRules, incomplete } = await this.reviewed(SELF_SUBJECT_RULES_REVIEWS, { namespace });
    if (!Array.isArray(resourceRules)) throw this.invalid('a review');
    return { rules: resourceRules as GrantedRule[], isIncomplete: incomplete === true };
  }

  private async reviewed(kind: KubeKind, spec: unknown): Promise<Record<string, unknown>> {
    const body = { apiVersion: apiVersionOf(kind), kind: kind.kind, spec };
    const call = callOf('create', kind, '');
    const answer = await this.transport.json({ method: 'POST', path: pathOf(kind, ''), body, call });
    const { status } = this.mapping(answer, 'a review');
    return this.mapping(status, 'a review');
  }

  /** Whether the server has the type. Every account may read this; a refusal does not show that the type is missing. */
  async knows(kind: KubeKind): Promise<boolean> {
    const call = callOf('get', kind, '');
    try {
      const answer = await this.transport.json({ method: 'GET', path: groupPathOf(kind), call });
      const { resources } = this.mapping(answer, 'a list of types') as { resources?: { name?: unknown }[] };
      if (!Array.isArray(resources)) throw this.invalid('a list of types');
      return resources.some((one) => one?.name === kind.plural);
    } catch (error) {
      if (error instanceof ApiError && [403, 404].includes(error.status)) return error.status === 403;
      throw error;
    }
  }

  /** The lines of a watch with bookmarks, as bytes. Ends when the signal fires. For `Reflector`. */
  async watch(
    kind: KubeKind,
    namespace: string,
    options: WatchOptions,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Buffer>> {
    const query = { ...options, watch: true, allowWatchBookmarks: true };
    const call = callOf('watch', kind, namespace);
    const request: ApiRequest = { method: 'GET', path: pathOf(kind, namespace), query, call, patience: signal };
    return this.transport.stream(request, signal);
  }

  /** Ends all calls and streams. */
  async close(): Promise<void> {
    await this.transport.close();
    this.cluster.close();
  }

  private async pages<T extends KubeObject>(
    kind: KubeKind,
    namespace: string,
    options: ListOptions,
  ): Promise<ListAnswer<T>> {
    const items: T[] = [];
    let next: string | undefined;
    for (let page = 1; ; page += 1) {
      const list = await this.page<T>(kind, namespace, options, next);
      for (const item of list.items) items.push(this.object<T>(item));
      const { continue: token, resourceVersion = '' } = list.metadata;
      if (!token || options.limit !== undefined) return { items, resourceVersion };
      if (token === next || page === MAX_PAGES)
        throw this.invalid(`a complete list of ${kind.plural} within ${page} pages`);
      next = token;
    }
  }

  private async page<T extends KubeObject>(kind: KubeKind, namespace: string, options: ListOptions, token?: string) {
    const { labelSelector, fieldSelector, limit = PAGE, patience } = options;
    const query = { labelSelector, fieldSelector, limit, continue: token };
    const call = callOf('list', kind, namespace);
    const answer = await this.transport.json({ method: 'GET', path: pathOf(kind, namespace), query, call, patience });
    const list = this.mapping(answer, `a list of ${kind.plural}`) as unknown as KubeList<T>;
    if (!Array.isArray(list.items) || !list.metadata?.resourceVersion) throw this.invalid(`a list of ${kind.plural}`);
    return list;
  }

  private async write<T extends KubeObject>(kind: KubeKind, request: ApiRequest, object: KubeObject): Promise<T> {
    const body = { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object };
    return this.object<T>(await this.transport.json({ ...request, body }));
  }

  private object<T extends KubeObject>(answer: unknown): T {
    const object = this.mapping(answer, 'an object') as unknown as T;
    if (!isKubeObject(object)) throw this.invalid('an object');
    keepForeignFields(object.metadata);
    return object;
  }

  private mapping(answer: unknown, what: string): Record<string, unknown> {
    if (typeof answer !== 'object' || answer === null) throw this.invalid(what);
    return answer as Record<string, unknown>;
  }

  private invalid(what: string): Error {
    return this.transport.unreachable('INVALID_ANSWER', `it did not return ${what}`);
  }
}

/** Whether the value has the fields of every object of a server. */
export function isKubeObject(value: unknown): value is KubeObject {
  const metadata = (value as Partial<KubeObject> | null)?.metadata;
  return typeof metadata?.name === 'string' && typeof metadata.uid === 'string' && metadata.uid !== '';
}

function callOf(verb: string, { plural, group }: KubeKind, namespace: string, name?: string): ApiCall {
  return { verb, resource: plural, group, namespace, name };
}
