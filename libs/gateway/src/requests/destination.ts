import { DATA_URLS_ONLY, type MediaUrls } from '@slipway/contracts';
import { SLOT_COUNT, slotOf, type Affinity, type PublishedBinding, type PublishedRow } from '@slipway/dataplane';
import { GatewayError, modelNotFound, noCapacity, routeMissing, modelQuotaExceeded } from '../gateway.errors.js';
import type { HoldQueue } from '../holds/hold-queue.js';
import type { ClientSession, SessionRequest } from '../sessions/session-book.js';
import type { SnapshotRoute, Snapshot } from '../snapshot/snapshot.js';
import type { Recorder, StatsKey } from '../telemetry/recorder.js';
import type { Token } from '../tokens/token-book.js';
import type { UpstreamBackend } from '../upstream/backend.js';
import type { Backends } from '../upstream/backends.js';
import { BindingLimits, type BindingUser, chooseBinding, userOf } from './binding-choice.js';
import { isVisible } from './model-list.js';

/** Destination of one request: drawn once, from one generation of one route, and kept until the request ends. */
export interface RequestDestination {
  backend: UpstreamBackend;
  /** The request as the session book sees it; undefined without a session. */
  sessionRequest: SessionRequest | undefined;
  /** Set for a published product. */
  published: { slug: string; bindingId: string; tenantId: string } | undefined;
  /** Every rule that URLs of media in the body must keep. */
  mediaRules: readonly MediaUrls[];
}

/** A request that must wait before it can be drawn. */
export class PendingDraw {
  constructor(
    readonly queue: HoldQueue,
    /** For a published product: this binding's limits count the request now, and not again if it continues there. */
    readonly bindingId: string | undefined,
    /** The revision that it waits for, whose statistics count it. For a held route: the one with most of its traffic. */
    readonly keys: readonly StatsKey[],
    private readonly before: PendingDraw | undefined,
  ) {}

  /** Whether this queue has released the request before. */
  hasWaitedIn(queue: HoldQueue): boolean {
    return this.queue === queue || (this.before?.hasWaitedIn(queue) ?? false);
  }
}

/** Shared, because most requests have it. */
const NO_RULES: readonly MediaUrls[] = [];

/** Published products have no route of their own that would set it. */
const PUBLISHED_AFFINITY: Affinity = { mode: 'soft', ttl_seconds: 600 };

export class Destinations {
  readonly limits = new BindingLimits();

  constructor(
    private readonly snapshot: Snapshot,
    private readonly backends: Backends,
    private readonly recorder: Pick<Recorder, 'arrive' | 'refuse'>,
  ) {}

  /**
   * Draws the destination of a request.
   * @param waited set for a request that a queue released: it is drawn from what is published now
   * @throws GatewayError 404 for an unknown model, 503 or 429 for one that cannot serve now
   */
  draw(
    model: string,
    token: Token,
    session: ClientSession | undefined,
    now: number,
    waited?: PendingDraw,
  ): RequestDestination | PendingDraw {
    const route = this.snapshot.routeByName(token.tenantId, model);
    if (route) {
      if (mustWait(route, waited)) return new PendingDraw(route.queue, undefined, keysOfRoute(route), waited);
      return this.drawRevision(route, token, session, waited);
    }
    const published = this.snapshot.slugs.get(model);
    if (published && isVisible(published, token.tenantId))
      return this.drawBinding(published, token, session, now, waited);
    throw modelNotFound(model);
  }

  /**
   * Returns the rules for URLs of media that hold for this model wherever its requests are sent. A request that breaks
   * one need not wait or wake anything first.
   */
  mediaRules(model: string, tenantId: string): readonly MediaUrls[] {
    const route = this.snapshot.routeByName(tenantId, model);
    if (route) return rulesOf(route.media_urls);
    const published = this.snapshot.slugs.get(model);
    return published && isVisible(published, tenantId) ? rulesOf(mediaUrlsOf(published)) : NO_RULES;
  }

  /** Whether a revision can serve requests at all, whatever its route says. */
  readonly isServing = (revisionId: string): boolean => this.backends.get(revisionId)?.isServing ?? false;

  private drawRevision(
    route: SnapshotRoute,
    token: Token,
    session: ClientSession | undefined,
    waited: PendingDraw | undefined,
  ): RequestDestination | PendingDraw {
    if (route.slotTable.length === 0) throw routeMissing(route.deployment_name);
    const backend = this.backendOfRoute(route, token.tenantId, session?.key);
    if (backend && mustWait(backend, waited)) return heldFor(backend, undefined, [], waited);
    if (!backend?.isServing) {
      this.noteRefusal(backend ? [keyOf(backend)] : keysOfRoute(route), waited);
      throw noCapacity(route.deployment_name);
    }
    const sessionRequest = session && {
      session,
      tenantId: token.tenantId,
      deploymentId: route.deployment_id,
      deploymentName: route.deployment_name,
      subject: token.id,
      affinity: route.affinity,
      isRevisionHidden: false,
    };
    return { backend, sessionRequest, published: undefined, mediaRules: rulesOf(route.media_urls) };
  }

  private drawBinding(
    row: PublishedRow,
    token: Token,
    session: ClientSession | undefined,
    now: number,
    waited: PendingDraw | undefined,
  ): RequestDestination | PendingDraw {
    const backendOf = (binding: PublishedBinding): UpstreamBackend | undefined =>
      this.queueOf(binding, waited) ? undefined : this.backendOfBinding(binding, token.tenantId, session?.key);
    const user = userOf(row, token.tenantId);
    const held = this.heldBinding(row, backendOf, user, now, waited);
    if (held) return held;
    const { binding, backend } =
      bindingKept(row, backendOf, waited) ?? this.chooseBinding(row, backendOf, user, session, now, waited);
    this.count(binding, user, now, waited);
    const sessionRequest = session && {
      session,
      tenantId: token.tenantId,
      deploymentId: `slug:${row.slug}`,
      deploymentName: row.slug,
      subject: token.id,
      affinity: PUBLISHED_AFFINITY,
      isRevisionHidden: true,
    };
    return {
      backend,
      sessionRequest,
      published: { slug: row.slug, bindingId: binding.binding_id, tenantId: row.tenant_id },
      mediaRules: rulesOf(mediaUrlsOf(row), this.mediaUrlsOfTarget(binding)),
    };
  }

  private chooseBinding(
    row: PublishedRow,
    backendOf: (binding: PublishedBinding) => UpstreamBackend | undefined,
    user: BindingUser,
    session: ClientSession | undefined,
    now: number,
    waited: PendingDraw | undefined,
  ): { binding: PublishedBinding; backend: UpstreamBackend } {
    try {
      return chooseBinding(row, backendOf, this.limits, user, session?.key, now);
    } catch (error) {
      if (error instanceof GatewayError && error.status === 503) this.noteRefusal(this.keysOfBest(row), waited);
      throw error;
    }
  }

  /** A request that waited has been counted when it came. */
  private noteRefusal(keys: readonly StatsKey[], waited: PendingDraw | undefined): void {
    if (!waited) this.recorder.arrive(keys, 0, false);
    this.recorder.refuse(keys);
  }

  /** Returns the keys of the binding that would serve first if it could. */
  private keysOfBest({ bindings, tenant_id: tenantId }: PublishedRow): StatsKey[] {
    const [best] = bindings.filter(({ weight }) => weight > 0).sort((a, b) => a.priority - b.priority);
    return best ? this.keysOfBinding(best, tenantId) : [];
  }

  private keysOfBinding({ binding_id: id, upstream }: PublishedBinding, tenantId: string): StatsKey[] {
    const keys = [{ id, tenantId }];
    if (upstream.kind === 'supplier') return keys;
    if (upstream.revision_id !== null) return [{ id: upstream.revision_id, tenantId }, ...keys];
    const route = this.snapshot.routes.get(upstream.deployment_id);
    return route ? [...keysOfRoute(route), ...keys] : keys;
  }

  /**
   * Returns the best binding to wait for, if none can serve now.
   * @throws GatewayError 429 if all are at their limits
   */
  private heldBinding(
    row: PublishedRow,
    backendOf: (binding: PublishedBinding) => UpstreamBackend | undefined,
    user: BindingUser,
    now: number,
    waited: PendingDraw | undefined,
  ): PendingDraw | undefined {
    const held = row.bindings.filter((binding) => binding.weight > 0 && this.queueOf(binding, waited));
    if (held.length === 0) return undefined;
    const hasCapacity = (binding: PublishedBinding): boolean =>
      binding.binding_id === waited?.bindingId || this.limits.hasCapacity(binding, user, now);
    if (row.bindings.some((one) => one.weight > 0 && backendOf(one)?.isServing && hasCapacity(one))) return undefined;
    const [best] = held.filter(hasCapacity).sort((a, b) => a.priority - b.priority);
    if (!best) throw modelQuotaExceeded();
    this.count(best, user, now, waited);
    const queue = this.queueOf(best, waited) as HoldQueue;
    const sleeper = this.sleeperOf(best.upstream, waited);
    const key = { id: best.binding_id, tenantId: row.tenant_id };
    if (sleeper?.queue === queue) return heldFor(sleeper, best.binding_id, [key], waited);
    return new PendingDraw(queue, best.binding_id, this.keysOfBinding(best, row.tenant_id), waited);
  }

  /** The deployment of a binding keeps its own rule, whatever a publication allows. */
  private mediaUrlsOfTarget({ upstream }: PublishedBinding): MediaUrls | null | undefined {
    return upstream.kind === 'supplier' ? null : this.snapshot.routes.get(upstream.deployment_id)?.media_urls;
  }

  private count(binding: PublishedBinding, user: BindingUser, now: number, waited: PendingDraw | undefined): void {
    if (waited?.bindingId !== binding.binding_id) this.limits.enter(binding, user, now);
  }

  private queueOf({ upstream }: PublishedBinding, waited: PendingDraw | undefined): HoldQueue | null {
    if (upstream.kind === 'supplier') return null;
    const route = this.snapshot.routes.get(upstream.deployment_id);
    if (route && mustWait(route, waited)) return route.queue;
    return this.sleeperOf(upstream, waited)?.queue ?? null;
  }

  /**
   * Returns the revision that would have to wake for a binding. With a route, only if none of its revisions is awake.
   */
  private sleeperOf(upstream: PublishedBinding['upstream'], waited: PendingDraw | undefined): Sleeper | undefined {
    if (upstream.kind === 'supplier') return undefined;
    if (upstream.revision_id !== null) {
      const backend = this.backends.get(upstream.revision_id);
      return backend && mustWait(backend, waited) ? backend : undefined;
    }
    let sleeper: Sleeper | undefined;
    for (const { revision_id: id, weight } of this.snapshot.routes.get(upstream.deployment_id)?.targets ?? []) {
      const backend = weight > 0 ? this.backends.get(id) : undefined;
      if (!backend) continue;
      if (mustWait(backend, waited)) sleeper ??= backend;
      else if (backend.isServing) return undefined;
    }
    return sleeper;
  }

  private backendOfBinding(
    { binding_id, upstream }: PublishedBinding,
    tenantId: string,
    session: string | undefined,
  ): UpstreamBackend | undefined {
    if (upstream.kind === 'supplier') return this.backends.get(binding_id);
    if (upstream.revision_id !== null) return this.backends.get(upstream.revision_id);
    const route = this.snapshot.routes.get(upstream.deployment_id);
    return route && this.awakeOfRoute(route, tenantId, session);
  }

  /** A product's request does not wait while another revision can serve: a sleeping one leaves its share to others. */
  private awakeOfRoute(
    route: SnapshotRoute,
    tenantId: string,
    session: string | undefined,
  ): UpstreamBackend | undefined {
    const backendAt = (index: number) => this.backends.get(route.targets[index]?.revision_id ?? '');
    const drawn = this.backendOfRoute(route, tenantId, session);
    if (!drawn || drawn.queue === null) return drawn;
    const serving = route.slotTable.filter((index) => backendAt(index)?.isServing);
    // A revision that has just woken first serves the requests that waited for it.
    const awake = serving.filter((index) => backendAt(index)?.queue === null);
    const [slots] = [awake, serving].filter(({ length }) => length > 0);
    return slots ? this.backendIn(slots, route, tenantId, session) : drawn;
  }

  private backendOfRoute(
    route: SnapshotRoute,
    tenantId: string,
    session: string | undefined,
  ): UpstreamBackend | undefined {
    return route.slotTable.length === 0 ? undefined : this.backendIn(route.slotTable, route, tenantId, session);
  }

  /** @param slots indices into the targets of the route, each as often as its share */
  private backendIn(
    slots: Uint8Array,
    route: SnapshotRoute,
    tenantId: string,
    session: string | undefined,
  ): UpstreamBackend | undefined {
    const drawn =
      session === undefined ? Math.random() : (slotOf(tenantId, route.deployment_id, session) + 0.5) / SLOT_COUNT;
    const revision = route.targets[slots[Math.floor(drawn * slots.length)] as number];
    return revision && this.backends.get(revision.revision_id);
  }
}

type Sleeper = UpstreamBackend & { queue: HoldQueue };

/** A released request passes those that still wait, but not a new hold. */
function mustWait<Leader extends { queue: HoldQueue | null }>(
  leader: Leader,
  waited: PendingDraw | undefined,
): leader is Leader & { queue: HoldQueue } {
  return leader.queue !== null && (!waited?.hasWaitedIn(leader.queue) || leader.queue.isHolding);
}

/** A waiting request counts as a use, and that wakes the revision. */
function heldFor(
  backend: Sleeper,
  bindingId: string | undefined,
  moreKeys: readonly StatsKey[],
  waited: PendingDraw | undefined,
): PendingDraw {
  backend.uses += 1;
  return new PendingDraw(backend.queue, bindingId, [keyOf(backend), ...moreKeys], waited);
}

/** Publications of previous releases have no rule. */
function mediaUrlsOf({ media_urls: mediaUrls }: PublishedRow): MediaUrls {
  return mediaUrls ?? DATA_URLS_ONLY;
}

function rulesOf(first: MediaUrls | null | undefined, second?: MediaUrls | null): readonly MediaUrls[] {
  const isFirst = restricts(first);
  if (!restricts(second)) return isFirst ? [first] : NO_RULES;
  return isFirst ? [first, second] : [second];
}

function restricts(rule: MediaUrls | null | undefined): rule is MediaUrls {
  return rule != null && rule.allow !== 'any';
}

function keyOf({ spec: { id, tenantId } }: UpstreamBackend): StatsKey {
  return { id, tenantId };
}

/** Returns the key of the revision with most of a route's traffic. */
function keysOfRoute({ targets, tenant_id: tenantId }: SnapshotRoute): StatsKey[] {
  const [most] = [...targets].sort((a, b) => b.weight - a.weight);
  return most ? [{ id: most.revision_id, tenantId }] : [];
}

/** Returns the binding that already counts the request, if it can serve. */
function bindingKept(
  { bindings }: PublishedRow,
  backendOf: (binding: PublishedBinding) => UpstreamBackend | undefined,
  waited: PendingDraw | undefined,
): { binding: PublishedBinding; backend: UpstreamBackend } | undefined {
  const binding = waited && bindings.find(({ binding_id: id }) => id === waited.bindingId);
  const backend = binding && backendOf(binding);
  return binding && backend?.isServing ? { binding, backend } : undefined;
}

/** A product's metrics are kept per binding too, even if the binding leads to a revision with traffic of its own. */
export function statsKeysOf({ backend, published }: RequestDestination): StatsKey[] {
  const keys = [keyOf(backend)];
  if (published && published.bindingId !== backend.spec.id)
    keys.push({ id: published.bindingId, tenantId: published.tenantId });
  return keys;
}
