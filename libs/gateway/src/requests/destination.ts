import { SLOT_COUNT, slotOf, type Affinity, type PublishedBinding, type PublishedRow } from '@slipway/dataplane';
import { modelNotFound, noCapacity } from '../gateway.errors.js';
import type { Session } from '../sessions/session.js';
import type { SessionRequest } from '../sessions/session-book.js';
import type { Route, Snapshot } from '../snapshot/snapshot.js';
import type { Token } from '../tokens/token-book.js';
import type { Backend } from '../upstream/backend.js';
import type { Backends } from '../upstream/backends.js';
import { BindingLimits, chooseBinding, isVisible } from './published-choice.js';

/** Where one request goes: drawn once, from one generation of one route, and kept until the request ends. */
export interface Destination {
  backend: Backend;
  /** What this request's session is to the session book. Undefined without a session. */
  sessionRequest: SessionRequest | undefined;
  /** Set for a published product. */
  published: { slug: string; bindingId: string; tenantId: string } | undefined;
}

/** Published products have no route of their own to say otherwise. */
const PUBLISHED_AFFINITY: Affinity = { mode: 'soft', ttl_seconds: 600 };

export class Destinations {
  readonly limits = new BindingLimits();

  constructor(
    private readonly snapshot: Snapshot,
    private readonly backends: Backends,
  ) {}

  /** @throws GatewayError 404 for an unknown model, 503 or 429 for one that cannot serve now */
  draw(model: string, token: Token, session: Session | undefined, now: number): Destination {
    const route = this.snapshot.routeByName(token.tenantId, model);
    if (route) return this.drawRevision(route, token, session);
    const published = this.snapshot.slugs.get(model);
    if (published && isVisible(published, token.tenantId)) return this.drawBinding(published, token, session, now);
    throw modelNotFound(model);
  }

  /** Whether a revision can be sent requests at all, whatever its route says. */
  readonly isServing = (revisionId: string): boolean => this.backends.get(revisionId)?.isServing ?? false;

  private drawRevision(route: Route, token: Token, session: Session | undefined): Destination {
    const backend = this.backendOfRoute(route, token.tenantId, session?.key);
    if (!backend?.isServing) throw noCapacity(route.deployment_name);
    const sessionRequest = session && {
      session,
      tenantId: token.tenantId,
      deploymentId: route.deployment_id,
      deploymentName: route.deployment_name,
      subject: token.id,
      affinity: route.affinity,
      isRevisionHidden: false,
    };
    return { backend, sessionRequest, published: undefined };
  }

  private drawBinding(row: PublishedRow, token: Token, session: Session | undefined, now: number): Destination {
    const backendOf = (binding: PublishedBinding): Backend | undefined =>
      this.backendOfBinding(binding, token.tenantId, session?.key);
    const { binding, backend } = chooseBinding(row, backendOf, this.limits, token.tenantId, session?.key, now);
    this.limits.enter(binding, now);
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
    };
  }

  private backendOfBinding(
    { binding_id, upstream }: PublishedBinding,
    tenantId: string,
    session: string | undefined,
  ): Backend | undefined {
    if (upstream.kind === 'supplier') return this.backends.get(binding_id);
    if (upstream.revision_id !== null) return this.backends.get(upstream.revision_id);
    const route = this.snapshot.routes.get(upstream.deployment_id);
    return route && this.backendOfRoute(route, tenantId, session);
  }

  private backendOfRoute(route: Route, tenantId: string, session: string | undefined): Backend | undefined {
    if (route.slotTable.length === 0) return undefined;
    const slot =
      session === undefined ? Math.floor(Math.random() * SLOT_COUNT) : slotOf(tenantId, route.deployment_id, session);
    const target = route.targets[route.slotTable[slot] as number];
    return target && this.backends.get(target.revision_id);
  }
}
