import type { KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import {
  passportId,
  sessionKeyHash,
  type Affinity,
  type PassportRow,
  type PassportSighting,
  type RebindReason,
  type SessionSource,
} from '@slipway/dataplane';
import type { DatabaseClock } from '../postgres/database-clock.js';
import type { UpstreamBackend } from '../upstream/backend.js';
import type { Instance } from '../upstream/instance.js';

export interface ClientSession {
  key: string;
  source: SessionSource;
}

/** Returns the key of a request's session, from the most explicit source. Undefined for a request without a session. */
export function sessionOf(
  headers: IncomingHttpHeaders,
  body: Readonly<Record<string, unknown>>,
): ClientSession | undefined {
  const header = headers['x-session-id'];
  if (typeof header === 'string' && header !== '') return { key: header, source: 'x-session-id' };
  for (const source of ['session_id', 'prompt_cache_key', 'user'] as const) {
    const value = body[source];
    if (typeof value === 'string' && value !== '') return { key: value, source };
  }
  return undefined;
}

/** Sightings that wait for Postgres. Beyond that, the oldest are dropped: the bindings themselves stay. */
const MAX_UNWRITTEN = 50_000;

export type AffinityOutcome = 'hit' | 'miss' | 'rebind' | 'off';

/**
 * A session's request: its caller and its destination. For a published product, `deploymentId` and `deploymentName` are
 * those of the slug.
 */
export interface SessionRequest {
  session: ClientSession;
  tenantId: string;
  deploymentId: string;
  deploymentName: string;
  subject: string;
  affinity: Affinity;
  /** True for a published product, whose revision must not be shown. */
  isRevisionHidden: boolean;
}

/**
 * The destination of a session, and what was seen of it since the last write. Times are those of `performance.now()`.
 */
interface SessionBinding {
  revisionId: string;
  revisionName: string | null;
  instanceId: string;
  boundAt: number;
  expiresAt: number;
  /** Whether any of its requests was answered. Without one, the session needs no record. */
  isServed: boolean;
}

export interface SessionAssignment {
  instance: Instance;
  passportId: string;
  outcome: AffinityOutcome;
  /** Null if the session is bound to nothing. */
  binding: SessionBinding | null;
  reason: RebindReason | null;
}

/**
 * Soft affinity: a session's requests are sent to the instance that served it last, while that instance is healthy, not
 * overloaded, and of the revision that the session's slot leads to. Bindings are kept in memory. Postgres gets a copy
 * as a record, and the next process starts from it. `now` is `performance.now()`; records have times of Postgres.
 */
export class SessionBook {
  private readonly bindings: LRUCache<string, SessionBinding>;
  private unwritten = new Map<string, PassportSighting>();

  constructor(
    private readonly key: KeyObject,
    private readonly revoked: ReadonlySet<string>,
    maxSessions: number,
    private readonly clock: Pick<DatabaseClock, 'at' | 'monotonic'>,
  ) {
    this.bindings = new LRUCache({ max: maxSessions });
  }

  get size(): number {
    return this.bindings.size;
  }

  get unwrittenCount(): number {
    return this.unwritten.size;
  }

  /** Chooses the instance for a session's request; `settled` follows. Returns undefined if the revision has none. */
  assign(
    request: SessionRequest,
    backend: UpstreamBackend,
    isRevisionServing: (revisionId: string) => boolean,
    now: number,
  ): SessionAssignment | undefined {
    const id = passportId(this.key, request.tenantId, request.deploymentId, request.session.key);
    if (request.affinity.mode === 'none' || this.revoked.has(id)) {
      const instance = backend.leastLoaded(now);
      return instance && { instance, passportId: id, outcome: 'off', binding: null, reason: null };
    }
    const known = this.bindings.get(id);
    const reason = known && whyNotHere(known, backend, isRevisionServing, now);
    const bound = known && !reason ? backend.bound(known.instanceId, now) : undefined;
    if (known && typeof bound === 'object') {
      known.expiresAt = now + request.affinity.ttl_seconds * 1000;
      return { instance: bound, passportId: id, outcome: 'hit', binding: known, reason: null };
    }
    const instance = backend.leastLoaded(now);
    if (!instance) return undefined;
    const rebindReason = reason ?? (typeof bound === 'string' ? bound : undefined);
    const binding = this.bind(id, request, backend, instance, now, known?.isServed ?? false);
    return { instance, passportId: id, outcome: known ? 'rebind' : 'miss', binding, reason: rebindReason ?? null };
  }

  /** A retry moved the request to another instance: the session follows it. */
  moved(
    request: SessionRequest,
    placement: SessionAssignment,
    backend: UpstreamBackend,
    instance: Instance,
    now: number,
  ): SessionAssignment {
    if (!placement.binding) return { ...placement, instance };
    const binding = this.bind(placement.passportId, request, backend, instance, now, placement.binding.isServed);
    return { ...placement, instance, outcome: 'rebind', binding, reason: 'target_unhealthy' };
  }

  /**
   * Notes a request once its result is known, once for each placement.
   * @param isServed whether its answer began. A session none of whose requests got that far leaves no record
   */
  settled(request: SessionRequest, placement: SessionAssignment, isServed: boolean, now: number): void {
    const { passportId: id, binding, outcome, reason } = placement;
    if (binding) binding.isServed ||= isServed;
    if (this.revoked.has(id) || !(binding?.isServed ?? isServed)) return;
    this.note(id, request, now, binding, outcome === 'off' ? null : COUNTED_AS[outcome], reason);
  }

  forget(id: string): void {
    this.bindings.delete(id);
  }

  load(rows: readonly PassportRow[]): void {
    for (const row of rows) {
      if (!row.revision_id || !row.instance_id || this.bindings.has(row.id)) continue;
      this.bindings.set(row.id, {
        revisionId: row.revision_id,
        revisionName: row.revision_name,
        instanceId: row.instance_id,
        boundAt: this.clock.monotonic((row.bound_at ?? row.created_at).getTime()),
        expiresAt: this.clock.monotonic(row.expires_at.getTime()),
        isServed: true,
      });
    }
  }

  /** Returns the sightings to be written and clears them. */
  takeUnwritten(): PassportSighting[] {
    const taken = [...this.unwritten.values()];
    this.unwritten = new Map();
    return taken;
  }

  /** Takes back what could not be written, and merges it into newer sightings. */
  putBack(sightings: readonly PassportSighting[]): void {
    for (const older of sightings) {
      const newer = this.unwritten.get(older.id);
      if (!newer) {
        if (this.unwritten.size < MAX_UNWRITTEN) this.unwritten.set(older.id, older);
        continue;
      }
      for (const count of ['requests', 'hits', 'misses', 'rebinds'] as const) newer[count] += older[count];
      newer.last_rebind_reason ??= older.last_rebind_reason;
    }
  }

  private bind(
    id: string,
    request: SessionRequest,
    backend: UpstreamBackend,
    instance: Instance,
    now: number,
    isServed: boolean,
  ): SessionBinding {
    const binding: SessionBinding = {
      isServed,
      revisionId: backend.spec.id,
      revisionName: backend.spec.revisionName,
      instanceId: instance.id,
      boundAt: now,
      expiresAt: now + request.affinity.ttl_seconds * 1000,
    };
    this.bindings.set(id, binding);
    return binding;
  }

  private note(
    id: string,
    request: SessionRequest,
    now: number,
    binding: SessionBinding | null,
    counted: 'hits' | 'misses' | 'rebinds' | null,
    reason: RebindReason | null,
  ): void {
    const sighting = this.unwritten.get(id) ?? this.sightingOf(id, request);
    const isShown = binding !== null && !request.isRevisionHidden;
    sighting.source = request.session.source;
    sighting.subject = request.subject;
    sighting.revision_id = isShown ? binding.revisionId : null;
    sighting.revision_name = isShown ? binding.revisionName : null;
    sighting.instance_id = isShown ? binding.instanceId : null;
    sighting.bound_at = binding ? this.timeOf(binding.boundAt) : null;
    sighting.last_seen_at = this.timeOf(now);
    sighting.expires_at = this.timeOf(now + request.affinity.ttl_seconds * 1000);
    sighting.requests += 1;
    if (counted) sighting[counted] += 1;
    if (reason) sighting.last_rebind_reason = reason;
  }

  private timeOf(monotonicMs: number): string {
    return new Date(this.clock.at(monotonicMs)).toISOString();
  }

  private sightingOf(id: string, request: SessionRequest): PassportSighting {
    const sighting: PassportSighting = {
      id,
      tenant_id: request.tenantId,
      deployment_id: request.deploymentId,
      deployment_name: request.deploymentName,
      key_hash: sessionKeyHash(this.key, request.tenantId, request.session.key),
      source: request.session.source,
      subject: request.subject,
      mode: request.affinity.mode,
      ttl_seconds: request.affinity.ttl_seconds,
      revision_id: null,
      revision_name: null,
      instance_id: null,
      bound_at: null,
      last_seen_at: '',
      expires_at: '',
      requests: 0,
      hits: 0,
      misses: 0,
      rebinds: 0,
      last_rebind_reason: null,
    };
    if (this.unwritten.size >= MAX_UNWRITTEN) this.unwritten.delete(this.unwritten.keys().next().value as string);
    this.unwritten.set(id, sighting);
    return sighting;
  }
}

const COUNTED_AS = { hit: 'hits', miss: 'misses', rebind: 'rebinds' } as const;

function whyNotHere(
  binding: SessionBinding,
  backend: UpstreamBackend,
  isRevisionServing: (revisionId: string) => boolean,
  now: number,
): RebindReason | undefined {
  if (binding.revisionId !== backend.spec.id)
    return isRevisionServing(binding.revisionId) ? 'weights_changed' : 'revision_retired';
  return binding.expiresAt <= now ? 'ttl_expired' : undefined;
}
