import { SLOT_COUNT, slotOf, type PublishedBinding, type PublishedRow } from '@slipway/dataplane';
import { noCapacity, modelQuotaExceeded } from '../gateway.errors.js';
import { LimitUsages, type LimitUsage } from '../tokens/limit-usages.js';
import type { UpstreamBackend } from '../upstream/backend.js';

type Limits = NonNullable<PublishedBinding['limits']>;

/** The part of the limits of a binding that one tenant may use, if the slug serves several and the binding sets none. */
const DEFAULT_SHARE = 0.5;

/** Whose request uses a binding. */
export interface BindingUser {
  tenantId: string;
  /** Whether other tenants may use the slug too. */
  isSlugShared: boolean;
}

export function userOf({ audience, tenant_id }: PublishedRow, tenantId: string): BindingUser {
  const isSlugShared = audience.visibility === 'shared' || audience.tenants.some((id) => id !== tenant_id);
  return { tenantId, isSlugShared };
}

/** The limits of bindings and the shares of tenants, as this gateway alone sees them. */
export class BindingLimits {
  private readonly usage = new LimitUsages();

  hasCapacity({ binding_id, limits }: PublishedBinding, user: BindingUser, now: number): boolean {
    if (!limits) return true;
    const ofTenant = shareOf(limits, user);
    return (
      this.isBelow(binding_id, limits, now) &&
      (ofTenant === undefined || this.isBelow(keyOf(binding_id, user.tenantId), ofTenant, now))
    );
  }

  enter({ binding_id, limits }: PublishedBinding, user: BindingUser, now: number): void {
    this.count(binding_id, limits ?? {}, now);
    this.count(keyOf(binding_id, user.tenantId), (limits && shareOf(limits, user)) ?? {}, now);
  }

  leave(bindingId: string, tenantId: string): void {
    this.usage.leave(bindingId);
    this.usage.leave(keyOf(bindingId, tenantId));
  }

  private isBelow(key: string, { max_rps, max_concurrency }: Limits, now: number): boolean {
    const usage = this.usageOf(key, max_rps ?? 0, now);
    if (max_concurrency && usage.inFlight >= max_concurrency) return false;
    return !max_rps || usage.allowance >= 1;
  }

  private count(key: string, { max_rps }: Limits, now: number): void {
    const usage = this.usageOf(key, max_rps ?? 0, now);
    usage.inFlight += 1;
    // Counted only while there is a rate: a binding that gets one later must not start with a debt.
    if (max_rps) usage.allowance -= 1;
  }

  private usageOf(key: string, perSecond: number, now: number): LimitUsage {
    return this.usage.filled(key, Math.max(1, perSecond), perSecond / 1000, now);
  }
}

const keyOf = (bindingId: string, tenantId: string): string => `${bindingId}/${tenantId}`;

/** Returns the limits of one tenant; undefined if it may use all. One request at a time is always possible. */
function shareOf(limits: Limits, { isSlugShared }: BindingUser): Limits | undefined {
  const part = limits.share_per_tenant ?? (isSlugShared ? DEFAULT_SHARE : 1);
  if (part >= 1) return undefined;
  const { max_concurrency: most, max_rps: rate } = limits;
  return { max_concurrency: most ? Math.max(1, Math.floor(part * most)) : null, max_rps: rate ? part * rate : null };
}

/**
 * Draws a binding by weight, among those of the best priority that can serve now. A session always draws the same one
 * while the choice is the same.
 * @throws GatewayError 503 if none can serve, 429 if only limits prevent it, or waits that the suppliers request
 */
export function chooseBinding(
  published: PublishedRow,
  backendOf: (binding: PublishedBinding) => UpstreamBackend | undefined,
  limits: BindingLimits,
  user: BindingUser,
  session: string | undefined,
  now: number,
): { binding: PublishedBinding; backend: UpstreamBackend } {
  const serving = published.bindings.flatMap((binding) => {
    const backend = backendOf(binding);
    return backend?.isServing && binding.weight > 0 ? [{ binding, backend }] : [];
  });
  const open = serving.filter(({ binding }) => limits.hasCapacity(binding, user, now));
  if (open.length === 0) throw serving.length > 0 ? modelQuotaExceeded() : noCapacity(published.slug);

  const callable = open.filter(({ backend }) => backend.refusedMs(now) === 0);
  if (callable.length === 0) throw modelQuotaExceeded(Math.min(...open.map(({ backend }) => backend.refusedMs(now))));
  const well = callable.filter(({ backend }) => backend.isWell(now));
  const choice = well.length > 0 ? well : callable;
  const best = Math.min(...choice.map(({ binding }) => binding.priority));
  const drawn = choice.filter(({ binding }) => binding.priority === best);
  const total = drawn.reduce((sum, { binding }) => sum + binding.weight, 0);
  const product = `slug:${published.slug}`;
  const fraction = session === undefined ? Math.random() : (slotOf(user.tenantId, product, session) + 0.5) / SLOT_COUNT;
  let left = fraction * total;
  for (const one of drawn) {
    left -= one.binding.weight;
    if (left < 0) return one;
  }
  return drawn[drawn.length - 1] as (typeof drawn)[number];
}
