import { SLOT_COUNT, slotOf, type PublishedBinding, type PublishedRow } from '@slipway/dataplane';
import { noCapacity, modelQuotaExceeded } from '../gateway.errors.js';
import type { UpstreamBackend } from '../upstream/backend.js';

interface BindingUsage {
  inFlight: number;
  allowance: number;
  filledAt: number;
}

/** The limits of bindings, as this gateway alone sees them. */
export class BindingLimits {
  private readonly usage = new Map<string, BindingUsage>();

  hasCapacity({ binding_id, limits }: PublishedBinding, now: number): boolean {
    if (!limits) return true;
    const usage = this.usageOf(binding_id, limits.max_rps ?? 0, now);
    if (limits.max_concurrency && usage.inFlight >= limits.max_concurrency) return false;
    return !limits.max_rps || usage.allowance >= 1;
  }

  enter({ binding_id, limits }: PublishedBinding, now: number): void {
    const usage = this.usageOf(binding_id, limits?.max_rps ?? 0, now);
    usage.inFlight += 1;
    // Counted only while there is a rate: a binding that gets one later must not start with a debt.
    if (limits?.max_rps) usage.allowance -= 1;
  }

  leave(bindingId: string): void {
    const usage = this.usage.get(bindingId);
    if (usage) usage.inFlight -= 1;
  }

  private usageOf(id: string, perSecond: number, now: number): BindingUsage {
    const most = Math.max(1, perSecond);
    let usage = this.usage.get(id);
    if (!usage) {
      usage = { inFlight: 0, allowance: most, filledAt: now };
      this.usage.set(id, usage);
    }
    // A clock that is set back adds nothing and takes nothing.
    usage.allowance = Math.min(most, usage.allowance + (Math.max(0, now - usage.filledAt) / 1000) * perSecond);
    usage.filledAt = now;
    return usage;
  }
}

/**
 * Draws a binding by weight, among those of the best priority that can serve now. A session always draws the same one
 * while the choice is the same.
 * @throws GatewayError 503 if none can serve, 429 if only limits prevent it
 */
export function chooseBinding(
  published: PublishedRow,
  backendOf: (binding: PublishedBinding) => UpstreamBackend | undefined,
  limits: BindingLimits,
  tenantId: string,
  session: string | undefined,
  now: number,
): { binding: PublishedBinding; backend: UpstreamBackend } {
  const serving = published.bindings.flatMap((binding) => {
    const backend = backendOf(binding);
    return backend?.isServing && binding.weight > 0 ? [{ binding, backend }] : [];
  });
  const open = serving.filter(({ binding }) => limits.hasCapacity(binding, now));
  if (open.length === 0) throw serving.length > 0 ? modelQuotaExceeded() : noCapacity(published.slug);

  const well = open.filter(({ backend }) => backend.isWell(now));
  const choice = well.length > 0 ? well : open;
  const best = Math.min(...choice.map(({ binding }) => binding.priority));
  const drawn = choice.filter(({ binding }) => binding.priority === best);
  const total = drawn.reduce((sum, { binding }) => sum + binding.weight, 0);
  const fraction =
    session === undefined ? Math.random() : (slotOf(tenantId, `slug:${published.slug}`, session) + 0.5) / SLOT_COUNT;
  let left = fraction * total;
  for (const one of drawn) {
    left -= one.binding.weight;
    if (left < 0) return one;
  }
  return drawn[drawn.length - 1] as (typeof drawn)[number];
}
