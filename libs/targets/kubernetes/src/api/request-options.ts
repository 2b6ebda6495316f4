export interface ListOptions {
  labelSelector?: string;
  fieldSelector?: string;
  /** At most so many objects, from one page. Without it: all there are. */
  limit?: number;
}

export interface ListAnswer<T> {
  items: T[];
  /** Where a watch goes on from. */
  resourceVersion: string;
}

export interface ApplyOptions {
  /** Whose fields they are: those that it applied before and leaves out now are taken away. */
  manager: string;
  /** Takes fields from other managers instead of failing with reason `Conflict`. */
  force: boolean;
}

export interface DeleteOptions {
  /** Only the object of this uid, never another one that has its name now. */
  uid?: string;
  graceSeconds?: number;
  /** It goes last, after all that it owns. */
  isLast?: boolean;
}

export interface PodLogOptions {
  container?: string;
  tailLines?: number;
  limitBytes?: number;
  /** Of the container's life before this one. */
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
  /** After so long the server ends the watch in good order. */
  timeoutSeconds: number;
}

/** One thing that a Role allows. */
export interface AccessRule {
  group: string;
  resource: string;
  subresource?: string;
  verb: string;
}
