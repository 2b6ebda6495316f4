import type { KubeCluster } from '../../src/api/cluster.js';
import type { KubeKind } from '../../src/api/kinds.js';
import type { KubeObject, Status } from '../../src/api/objects.js';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'apply' | 'patch' | 'delete' | 'log';
export type Change = 'created' | 'changed' | 'deleted';

/** One request that the stub has received. `plural` is the resource's name in the path, `pods`. */
export interface StubRequest {
  verb: Verb;
  plural: string;
  namespace: string;
  name?: string;
  query: Record<string, string>;
  /** The parsed body. */
  body?: any;
  authorization?: string;
  /** `Date.now()` of its arrival. */
  at: number;
}

/** Requests of one verb, resource, name. A field that is left out matches all. */
export type Match = Partial<Pick<StubRequest, 'verb' | 'plural' | 'namespace' | 'name'>>;

/** Replaces the answer of matching requests. */
export type Oddity =
  /** A refusal: a Status with this code, reason and message. */
  | { status: number; reason?: string; message?: string; retryAfterSeconds?: number; details?: Status['details'] }
  /** These bytes, with this code (200) and content type. */
  | { body: string; code?: number; contentType?: string }
  /** Bytes without an end, until the client disconnects. */
  | { endless: true }
  /** The correct answer, after this has resolved. */
  | { until: Promise<unknown> }
  /** The correct answer, after this delay. */
  | { slowMs: number }
  /** No answer at all. */
  | { silent: true }
  /** The connection is cut before any answer. */
  | { cut: true };

/**
 * Reads and writes like the cluster's own controllers and people. Oddities do not apply, and every watch shows the
 * writes.
 */
export interface StubStore {
  get<T extends KubeObject>(kind: KubeKind, namespace: string, name: string): T | undefined;
  list<T extends KubeObject>(kind: KubeKind, namespace?: string): T[];
  /** Creates the object or replaces the one of its name, with uid, times and version. */
  put<T extends KubeObject>(kind: KubeKind, object: T, manager?: string): T;
  /**
   * Changes an existing object, except `metadata.generation`, as a field manager: by default that of `put`.
   * @throws Error if the object does not exist
   */
  change<T extends KubeObject>(
    kind: KubeKind,
    namespace: string,
    name: string,
    change: (object: T) => void,
    manager?: string,
  ): T;
  /** Deletes it at once, without a grace period. */
  remove(kind: KubeKind, namespace: string, name: string): void;
  /** The newest version. */
  readonly version: string;
}

export interface StubOptions {
  /**
   * Called after each write of a Deployment or LeaderWorkerSet by any client, to act like controllers and the kubelet.
   * It may write at once or later through `api.store`. `playUnits()` is a complete implementation.
   */
  onUnit?(unit: KubeObject, change: Change, api: StubApi): void;
  /**
   * Called when a pod on a node gets its deletionTimestamp, to act like the kubelet, which ends with
   * `api.store.remove`. Without it the pod is deleted at once.
   */
  onPodDeletion?(pod: KubeObject, api: StubApi): void;
  /** The answer of `pods/log`. */
  log?(pod: string, query: Record<string, string>): Iterable<string> | AsyncIterable<string>;
  /** The time between bookmarks for the watches that request them. Default: only `bookmark()`. */
  bookmarkMs?: number;
  /** Certificate and key, for https. */
  tls?: { cert: string; key: string };
  /** The accepted bearer tokens; others get a 401. Default: every request is accepted. */
  tokens?: ReadonlySet<string>;
  /** The port to listen on; any by default. */
  port?: number;
}

/** A part of an API server that keeps objects in memory, and behaves wrongly on request. */
export interface StubApi {
  readonly url: string;
  readonly store: StubStore;
  /** All requests since the start or `forgetRequests()`, oldest first. */
  readonly requests: readonly StubRequest[];
  forgetRequests(): void;
  /** For `new KubeApi(stub.cluster())`. */
  cluster(token?: string): KubeCluster;
  /**
   * Matching requests get the oddity until the returned function is called, or this many `times`. The oldest match
   * wins.
   */
  odd(match: Match, oddity: Oddity, times?: number): () => void;
  /** Removes a type until the returned function is called. */
  lacks(kind: KubeKind): () => void;
  /** Answers with a 403 like RBAC until the returned function is called. */
  forbid(match: Match): () => void;
  /** Open connections, all connections so far, and open watches and logs. */
  readonly sockets: { open: number; opened: number; watches: number; logs: number };
  /** Cuts each watch in the middle. */
  cutWatches(): void;
  /** Ends each watch like a server at the end of the watch's time. */
  endWatches(): void;
  /** From now on open watches receive nothing more and are not closed, like half-open connections. */
  freezeWatches(): void;
  /** Sends an ERROR event to each watch, 410 Expired by default. The watch ends after it. */
  failWatches(code?: number, reason?: string): void;
  bookmark(): void;
  /** Sends bytes into each watch, unchanged. */
  inject(bytes: string | Uint8Array): void;
  /** Repeats an event to each watch of the kind, with an older object, like a replica that lags. */
  replay(kind: KubeKind, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): void;
  /**
   * Forgets the past: a watch from an older version receives 410, as a status or as the first event of a 200, and
   * tokens of pages expire.
   */
  compact(form?: 'status' | 'event'): void;
  /** Deletes everything and restarts versions: an API server with an empty etcd. Open watches are cut. */
  wipe(): void;
  close(): Promise<void>;
}
