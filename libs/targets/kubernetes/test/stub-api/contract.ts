import type { KubeCluster } from '../../src/api/cluster.js';
import type { KubeKind } from '../../src/api/kinds.js';
import type { KubeObject, Status } from '../../src/api/objects.js';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'apply' | 'patch' | 'delete' | 'log';
export type Change = 'created' | 'changed' | 'deleted';

/** One request that the stub has seen. `plural` is the resource's name in the path, `pods`. */
export interface StubRequest {
  verb: Verb;
  plural: string;
  namespace: string;
  name?: string;
  query: Record<string, string>;
  /** What was sent, parsed. */
  body?: any;
  authorization?: string;
  /** `Date.now()` of its arrival. */
  at: number;
}

/** Requests of one verb, resource, name; what is left out matches all. */
export type Match = Partial<Pick<StubRequest, 'verb' | 'plural' | 'namespace' | 'name'>>;

/** What is done to requests that match instead of answering them. */
export type Oddity =
  /** A refusal: a Status with this code, reason and message. */
  | { status: number; reason?: string; message?: string; retryAfterSeconds?: number; details?: Status['details'] }
  /** These bytes, with this code (200) and content type. */
  | { body: string; code?: number; contentType?: string }
  /** Bytes without an end, until the client goes. */
  | { endless: true }
  /** The right answer, once this has come. */
  | { until: Promise<unknown> }
  /** The right answer, so much later. */
  | { slowMs: number }
  /** No answer at all. */
  | { silent: true }
  /** The connection is cut, before any answer. */
  | { cut: true };

/** Reads and writes as the cluster's own controllers and people do: past every oddity, seen by every watch. */
export interface StubStore {
  get<T extends KubeObject>(kind: KubeKind, namespace: string, name: string): T | undefined;
  list<T extends KubeObject>(kind: KubeKind, namespace?: string): T[];
  /** Creates it or puts it in place of the one of its name; gives it uid, times and version. */
  put<T extends KubeObject>(kind: KubeKind, object: T): T;
  /** Changes one that is there, `metadata.generation` aside. @throws Error where it is not. */
  change<T extends KubeObject>(kind: KubeKind, namespace: string, name: string, change: (object: T) => void): T;
  /** Takes it away at once, without grace. */
  remove(kind: KubeKind, namespace: string, name: string): void;
  /** The newest version there is. */
  readonly version: string;
}

export interface StubOptions {
  /**
   * After each write of a Deployment or LeaderWorkerSet, whoever wrote: what controllers and the kubelet would do now. It may
   * write at once or later through `api.store`. `playUnits()` is one that is ready made.
   */
  onUnit?(unit: KubeObject, change: Change, api: StubApi): void;
  /**
   * A pod that runs on a node has got its deletionTimestamp: the kubelet's part, which ends in `api.store.remove`. Without it
   * the pod is gone at once.
   */
  onPodDeletion?(pod: KubeObject, api: StubApi): void;
  /** What `pods/log` answers. */
  log?(pod: string, query: Record<string, string>): Iterable<string> | AsyncIterable<string>;
  /** Bookmarks go to the watches that ask for them, this often. Default: only `bookmark()`. */
  bookmarkMs?: number;
  /** Certificate and key: then it speaks https. */
  tls?: { cert: string; key: string };
  /** Only these bearer tokens are known, everybody else is 401. Default: whoever comes. */
  tokens?: ReadonlySet<string>;
  /** The port to listen on; any by default. */
  port?: number;
}

/** A part of an API server that keeps objects in memory, and does odd things when it is told to. */
export interface StubApi {
  readonly url: string;
  readonly store: StubStore;
  /** All requests since the start or `forgetRequests()`, oldest first. */
  readonly requests: readonly StubRequest[];
  forgetRequests(): void;
  /** For `new KubeApi(stub.cluster())`. */
  cluster(token?: string): KubeCluster;
  /** Such requests go wrong until the returned function is called, or so many `times`. The oldest that matches wins. */
  odd(match: Match, oddity: Oddity, times?: number): () => void;
  /** It has no such type, until the returned function is called. */
  lacks(kind: KubeKind): () => void;
  /** 403 as RBAC says it, until the returned function is called. */
  forbid(match: Match): () => void;
  /** Connections now open, and ever; watches and logs that are not over. */
  readonly sockets: { open: number; opened: number; watches: number; logs: number };
  /** Cuts each watch in the middle. */
  cutWatches(): void;
  /** Ends each watch as a server does whose time for it is over. */
  endWatches(): void;
  /** From now on watches that are open hear nothing more, and nobody tells them: half-open connections. */
  freezeWatches(): void;
  /** An ERROR event to each watch; 410 Expired by default. The watch ends after it. */
  failWatches(code?: number, reason?: string): void;
  bookmark(): void;
  /** Bytes into each watch, as they are. */
  inject(bytes: string | Uint8Array): void;
  /** An event once more to each watch of the kind, with an object as it was: what a replica that lags would send. */
  replay(kind: KubeKind, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): void;
  /**
   * Forgets the past: a watch from before is told 410, as a status or as the first event of a 200, and tokens of pages are
   * expired.
   */
  compact(form?: 'status' | 'event'): void;
  /** Everything is gone and versions begin anew: an API server with an empty etcd. Open watches are cut. */
  wipe(): void;
  close(): Promise<void>;
}
