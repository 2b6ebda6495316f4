import {
  VersionDigest,
  type BackendRow,
  type Entries,
  type EntryKeys,
  type EntryKind,
  type EntryVersion,
  type PublishedRow,
  type RouteRow,
} from '@slipway/dataplane';
import type { HoldQueue } from '../holds/hold-queue.js';

/** A route as published, with its slots decoded into an index for each. */
export interface SnapshotRoute extends RouteRow {
  /** `slots`, as the hot path reads them. */
  readonly slotTable: Uint8Array;
  /** Queue of its waiting requests. It exists during a hold, and until the requests of that hold have continued. */
  queue: HoldQueue | null;
}

export interface SnapshotListener {
  onBackend(row: BackendRow): void;
  onBackendGone(revisionId: string): void;
  onSlug(row: PublishedRow): void;
  onSlugGone(slug: string): void;
  onRoute(route: SnapshotRoute): void;
  onRouteGone(deploymentId: string): void;
  onPassportRevoked(id: string): void;
}

/** The published state, as this process last read it. Changes are applied between two requests, never during one. */
export class Snapshot {
  readonly routes = new Map<string, SnapshotRoute>();
  readonly backends = new Map<string, BackendRow>();
  readonly slugs = new Map<string, PublishedRow>();
  readonly revokedPassports = new Set<string>();
  /** Digests of the rows above. */
  readonly digests = { route: new VersionDigest(), backend: new VersionDigest(), slug: new VersionDigest() };
  private readonly routesByName = new Map<string, SnapshotRoute>();

  constructor(private readonly listener: SnapshotListener) {}

  routeByName(tenantId: string, deploymentName: string): SnapshotRoute | undefined {
    return this.routesByName.get(`${tenantId}\0${deploymentName}`);
  }

  /** Returns the keys whose rows differ from ours, and our keys that no longer exist. */
  differences(versions: readonly EntryVersion[]): EntryKeys {
    const keys = { routes: [] as string[], backends: [] as string[], slugs: [] as string[], passports: [] as string[] };
    const seen: Record<EntryKind, Set<string>> = {
      route: new Set(),
      backend: new Set(),
      slug: new Set(),
      passport: new Set(),
    };
    const same = new Set<EntryKind>();
    for (const { kind, id, version } of versions) {
      if (kind === 'same') {
        same.add(id);
        continue;
      }
      seen[kind].add(id);
      if (this.versionOf(kind, id) !== version) keys[PLURAL[kind]].push(id);
    }
    const all: [EntryKind, Iterable<string>][] = [
      ['route', this.routes.keys()],
      ['backend', this.backends.keys()],
      ['slug', this.slugs.keys()],
      ['passport', this.revokedPassports],
    ];
    const compared = all.filter(([kind]) => !same.has(kind));
    for (const [kind, ids] of compared) for (const id of ids) if (!seen[kind].has(id)) keys[PLURAL[kind]].push(id);
    return keys;
  }

  /**
   * Applies the rows read for these keys; a key without a row is removed. Backends arrive before the routes that need
   * them and leave after the routes that named them. Returns whether anything changed.
   */
  apply(keys: EntryKeys, entries: Entries): boolean {
    let hasChanged = false;
    for (const row of entries.backends) hasChanged = this.takeBackend(row) || hasChanged;
    for (const row of entries.routes) hasChanged = this.takeRoute(row) || hasChanged;
    for (const row of entries.slugs) hasChanged = this.takeSlug(row) || hasChanged;
    hasChanged = this.takePassports(keys.passports, entries.revokedPassports) || hasChanged;

    const routes = new Set(entries.routes.map((row) => row.deployment_id));
    const slugs = new Set(entries.slugs.map((row) => row.slug));
    const backends = new Set(entries.backends.map((row) => row.revision_id));
    for (const id of keys.routes) if (!routes.has(id)) hasChanged = this.dropRoute(id) || hasChanged;
    for (const slug of keys.slugs) if (!slugs.has(slug)) hasChanged = this.dropSlug(slug) || hasChanged;
    for (const id of keys.backends) if (!backends.has(id)) hasChanged = this.dropBackend(id) || hasChanged;
    return hasChanged;
  }

  /** Returns the rows as they were read, for the disk. */
  stored() {
    return {
      routes: [...this.routes.values()].map(({ slotTable: _slotTable, queue: _queue, ...row }): RouteRow => row),
      backends: [...this.backends.values()],
      slugs: [...this.slugs.values()],
      revoked_passports: [...this.revokedPassports],
    };
  }

  private versionOf(kind: EntryKind, id: string): number | undefined {
    if (kind === 'route') return this.routes.get(id)?.version;
    if (kind === 'backend') return this.backends.get(id)?.version;
    if (kind === 'slug') return this.slugs.get(id)?.version;
    return this.revokedPassports.has(id) ? 1 : undefined;
  }

  private takeRoute(row: RouteRow): boolean {
    const known = this.routes.get(row.deployment_id);
    if (known?.version === row.version) return false;
    if (known) this.routesByName.delete(nameKey(known));
    if (known) this.digests.route.remove(known.version);
    this.digests.route.add(row.version);
    const route: SnapshotRoute = { ...row, slotTable: Uint8Array.from(row.slots), queue: null };
    this.routes.set(row.deployment_id, route);
    this.routesByName.set(nameKey(route), route);
    this.listener.onRoute(route);
    return true;
  }

  private dropRoute(deploymentId: string): boolean {
    const known = this.routes.get(deploymentId);
    if (!known) return false;
    this.routes.delete(deploymentId);
    this.digests.route.remove(known.version);
    // A new deployment may have taken the name in the same batch.
    if (this.routesByName.get(nameKey(known)) === known) this.routesByName.delete(nameKey(known));
    this.listener.onRouteGone(deploymentId);
    return true;
  }

  private takeBackend(row: BackendRow): boolean {
    const known = this.backends.get(row.revision_id);
    if (known?.version === row.version) return false;
    if (known) this.digests.backend.remove(known.version);
    this.digests.backend.add(row.version);
    this.backends.set(row.revision_id, row);
    this.listener.onBackend(row);
    return true;
  }

  private dropBackend(revisionId: string): boolean {
    const known = this.backends.get(revisionId);
    if (!known) return false;
    this.backends.delete(revisionId);
    this.digests.backend.remove(known.version);
    this.listener.onBackendGone(revisionId);
    return true;
  }

  private takeSlug(row: PublishedRow): boolean {
    const known = this.slugs.get(row.slug);
    if (known?.version === row.version) return false;
    if (known) this.digests.slug.remove(known.version);
    this.digests.slug.add(row.version);
    this.slugs.set(row.slug, row);
    this.listener.onSlug(row);
    return true;
  }

  private dropSlug(slug: string): boolean {
    const known = this.slugs.get(slug);
    if (!known) return false;
    this.slugs.delete(slug);
    this.digests.slug.remove(known.version);
    this.listener.onSlugGone(slug);
    return true;
  }

  private takePassports(asked: readonly string[], revoked: readonly string[]): boolean {
    const before = this.revokedPassports.size;
    const still = new Set(revoked);
    for (const id of asked) if (!still.has(id)) this.revokedPassports.delete(id);
    let hasNew = false;
    for (const id of revoked) {
      if (this.revokedPassports.has(id)) continue;
      hasNew = true;
      this.revokedPassports.add(id);
      this.listener.onPassportRevoked(id);
    }
    return hasNew || before !== this.revokedPassports.size;
  }
}

const PLURAL = { route: 'routes', backend: 'backends', slug: 'slugs', passport: 'passports' } as const;

function nameKey(route: RouteRow): string {
  return `${route.tenant_id}\0${route.deployment_name}`;
}
