import type { MediaUrls } from '@slipway/contracts';

/** The rows that areas publish to gateways. JSON columns use snake_case, as every document of the product does. */

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
  /** While it is set, gateways hold new requests of the deployment. The next generation may remove it. */
  hold?: PublishedHold | null;
  /** Which URLs of media its requests may name; null or absent: any. */
  media_urls?: MediaUrls | null;
  created_at: string;
}

/** Ages are measured from a request's arrival, so no two clocks are compared. */
export interface PublishedHold {
  /** The longest wait of one request, 1..290. */
  max_seconds: number;
  /** Expected duration of the hold, from the last measured starts; null if nothing was measured. */
  estimated_seconds: number | null;
  /** When it began, RFC 3339, by the clock of Postgres: for people, and for the rest of the estimate. */
  since: string;
}

export interface PublishedInstance {
  id: string;
  /** Scheme, host, port and an optional path; `serverUrls` finds the API in it. */
  base_url: string;
  /** Path of the API, if `serverUrls` does not find it. Rows of earlier releases have none. */
  api_path?: string;
  /**
   * `ready` instances get requests, `draining` ones finish theirs, and `lost` ones are not expected to answer. A gateway
   * decides about the others by its own evidence: `doubted` (its node no longer reports), `unhealthy` (it missed probes),
   * and `ending` (it serves while no other instance does; another entry may have the same id and another address).
   */
  state: 'ready' | 'draining' | 'lost' | 'doubted' | 'unhealthy' | 'ending';
  /** Parts from which the engine's key is derived (`instanceKey`); absent for an engine that requires none. */
  key?: { id: string; generation: number };
}

/** Addresses that an upstream may have, as in `allow` of an endpoint target. Null for a child process on this host. */
export type AddressGuard = { allow: string[] } | null;

/** A row of `dataplane_backends`. */
export interface BackendRow {
  revision_id: string;
  tenant_id: string;
  deployment_id: string;
  revision_name: string;
  model_id: string;
  instances: PublishedInstance[];
  /** The bearer credential sealed by `sealSecret` with its `backendContext`, or null. */
  credential: string | null;
  guard: AddressGuard;
  /** While it is set, the revision sleeps: requests for it wait, and a waiting request wakes it. */
  asleep?: BackendSleep | null;
  version: number;
}

export interface BackendSleep extends PublishedHold {
  /** Failed starts during this sleep. Each further one fails the requests that wait for it. */
  failures: number;
  /** Class of the cause of the last failure, from a closed list. */
  failure: string | null;
}

/** Destination of one binding of a published product: a revision, or a deployment's route if `revision_id` is null. */
export interface RevisionUpstream {
  kind: 'revision';
  deployment_id: string;
  revision_id: string | null;
}

export interface SupplierUpstream {
  kind: 'supplier';
  base_url: string;
  model: string;
  /** The bearer credential sealed by `sealSecret` with its `supplierContext`, or null. */
  credential: string | null;
  guard: { allow: string[] };
}

export interface PublishedBinding {
  binding_id: string;
  /** Share among the bindings of its priority, > 0. */
  weight: number;
  /** Lower is preferred; a higher one serves while no binding with a lower one can. */
  priority: number;
  /** `share_per_tenant`: the part of the limits that one tenant may use. */
  limits?: { max_rps?: number | null; max_concurrency?: number | null; share_per_tenant?: number | null } | null;
  upstream: RevisionUpstream | SupplierUpstream;
}

export interface Audience {
  visibility: 'tenant' | 'shared';
  /** In addition to the publishing tenant, with visibility `tenant`. */
  tenants: string[];
}

/** A row of `dataplane_published`. */
export interface PublishedRow {
  slug: string;
  tenant_id: string;
  product_id: string;
  bindings: PublishedBinding[];
  audience: Audience;
  /** Which URLs of media its requests may name; null or absent: `data:` only. */
  media_urls?: MediaUrls | null;
  version: number;
  created_at: string;
}
