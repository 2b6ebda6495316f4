/** The shapes of what areas publish to gateways. JSON columns keep snake_case, as every document of the product does. */

export type EntryKind = 'route' | 'backend' | 'slug' | 'passport';

export interface RouteDestination {
  revision_id: string;
  revision_name: string;
  /** 0..100; the weights of a route sum to 100. */
  weight: number;
}

export interface Affinity {
  mode: 'none' | 'soft';
  ttl_seconds: number;
}

/** A row of `dataplane_routes`. */
export interface RouteRow {
  deployment_id: string;
  tenant_id: string;
  deployment_name: string;
  generation: number;
  /** Differs after each write. */
  version: number;
  /** 100 indices into `targets`; empty for a deployment that is known but has no route. */
  slots: number[];
  targets: RouteDestination[];
  affinity: Affinity;
  /** While it is there, gateways keep new requests of the deployment waiting; the next generation may take it away. */
  hold?: PublishedHold | null;
  created_at: string;
}

/** Ages are measured from when a request came, so no clock is compared with another. */
export interface PublishedHold {
  /** The longest that one request waits, 1..290. */
  max_seconds: number;
  /** How long the hold is expected to last, by the last measured starts; null when nothing was measured. */
  estimated_seconds: number | null;
  /** When it began, RFC 3339, by the clock of Postgres: for people, and for what is left of the estimate. */
  since: string;
}

export interface PublishedInstance {
  id: string;
  /** Scheme, host, port and an optional path. A path that ends in `/v1` is taken for the OpenAI root itself. */
  base_url: string;
  /** Only `ready` instances are sent requests. `draining` ones finish theirs; of `lost` ones no answer is to be expected. */
  state: 'ready' | 'draining' | 'lost';
  /** What the key is derived from that the engine asks for (`instanceKey`); absent for one that asks for none. */
  key?: { id: string; generation: number };
}

/** Addresses an upstream may have: patterns as in `allow` of an endpoint target. Null = a child process on this host. */
export type AddressGuard = { allow: string[] } | null;

/** A row of `dataplane_backends`. */
export interface BackendRow {
  revision_id: string;
  tenant_id: string;
  deployment_id: string;
  revision_name: string;
  model_id: string;
  instances: PublishedInstance[];
  /** `sealSecret` of the bearer credential with its `backendContext`, or null. */
  credential: string | null;
  guard: AddressGuard;
  /** While it is there the revision sleeps: requests for it wait, and that they do wakes it. */
  asleep?: BackendSleep | null;
  version: number;
}

export interface BackendSleep extends PublishedHold {
  /** Starts out of this sleep that came to nothing. Each one more fails those that wait for it. */
  failures: number;
  /** Class of the cause of the last one, from a closed list. */
  failure: string | null;
}

/** Where one binding of a published product leads: to a revision, or to a deployment's route if `revision_id` is null. */
export interface RevisionUpstream {
  kind: 'revision';
  deployment_id: string;
  revision_id: string | null;
}

export interface SupplierUpstream {
  kind: 'supplier';
  base_url: string;
  model: string;
  /** `sealSecret` of the bearer credential with its `supplierContext`, or null. */
  credential: string | null;
  guard: { allow: string[] };
}

export interface PublishedBinding {
  binding_id: string;
  /** Share among the bindings of its priority, > 0. */
  weight: number;
  /** Lower is preferred; a higher one serves while no binding below it can. */
  priority: number;
  limits?: { max_rps?: number | null; max_concurrency?: number | null } | null;
  upstream: RevisionUpstream | SupplierUpstream;
}

export interface Audience {
  visibility: 'tenant' | 'shared';
  /** Beside the publishing tenant, with visibility `tenant`. */
  tenants: string[];
}

/** A row of `dataplane_published`. */
export interface PublishedRow {
  slug: string;
  tenant_id: string;
  product_id: string;
  bindings: PublishedBinding[];
  audience: Audience;
  version: number;
  created_at: string;
}
