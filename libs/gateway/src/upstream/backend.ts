import type { BackendRow, PublishedBinding } from '@slipway/dataplane';
import type { GatewaySettings } from '../settings.js';
import { Instance, type GuardedDispatcher } from './instance.js';

/** A bound instance this much busier than the idlest one loses the session. */
const BUSIER_BY = 8;
const BUSIER_TIMES = 2;
/** Retries may add this share to a backend's requests, and a few more at first: when everything fails, retrying makes it worse. */
const RETRY_SHARE = 0.3;
const MAX_RETRIES_SAVED = 50;

/** What a backend is made of, whichever table it came from. */
export interface BackendSpec {
  /** Revision, or binding of an external supplier: what statistics are kept under. */
  id: string;
  tenantId: string;
  /** Null for a supplier. */
  revisionName: string | null;
  modelId: string;
  authorization: string | null;
  guard: BackendRow['guard'];
  instances: BackendRow['instances'];
}

/** A revision (or supplier) that can be sent requests: its instances and the choice among them. */
export class Backend {
  private instances: Instance[] = [];
  private retriesSaved = MAX_RETRIES_SAVED / 5;
  /** Requests from the draw of the revision to their end, retries included. */
  inFlight = 0;

  constructor(
    public spec: BackendSpec,
    private readonly settings: GatewaySettings,
    private readonly guarded: GuardedDispatcher,
  ) {
    this.update(spec);
  }

  /** Instances that stay keep their connections and their record; those that left finish what they have. */
  update(spec: BackendSpec): void {
    const isGuardSame = JSON.stringify(spec.guard) === JSON.stringify(this.spec.guard);
    const next = spec.instances.map((published) => {
      const known = this.instances.find(
        (instance) => isGuardSame && instance.id === published.id && instance.baseUrl === published.base_url,
      );
      if (!known) return new Instance(published, spec.guard, this.guarded, this.settings);
      known.isDraining = published.state !== 'ready';
      return known;
    });
    for (const instance of this.instances) if (!next.includes(instance)) instance.close();
    this.instances = next;
    this.spec = spec;
  }

  close(): void {
    for (const instance of this.instances) instance.close();
    this.instances = [];
  }

  async destroy(): Promise<void> {
    await Promise.all(this.instances.map((instance) => instance.destroy()));
  }

  get isServing(): boolean {
    return this.instances.some((instance) => !instance.isDraining);
  }

  /** Whether some ready instance does not stand aside. */
  isWell(now: number): boolean {
    return this.instances.some((instance) => !instance.isDraining && !instance.isEjected(now));
  }

  ejectedCount(now: number): number {
    return this.instances.filter((instance) => instance.isEjected(now)).length;
  }

  /** The least loaded instance, those in `tried` last. Undefined when none is ready. */
  leastLoaded(now: number, tried: readonly Instance[] = []): Instance | undefined {
    const ready = this.instances.filter((instance) => !instance.isDraining);
    const healthy = ready.filter((instance) => !instance.isEjected(now));
    const untried = healthy.filter((instance) => !tried.includes(instance));
    // When all stand aside, one of them is still a better answer than a refusal.
    return idlest([untried, healthy, ready].find((choice) => choice.length > 0) ?? []);
  }

  /** The bound instance, or why it cannot serve the session any more. */
  bound(instanceId: string, now: number): Instance | 'target_unhealthy' | 'capacity' {
    const instance = this.instances.find((one) => one.id === instanceId);
    if (!instance || instance.isDraining) return 'target_unhealthy';
    const other = this.leastLoaded(now);
    if (instance.isEjected(now)) return other === instance ? instance : 'target_unhealthy';
    if (other && instance.inFlight >= BUSIER_BY + BUSIER_TIMES * other.inFlight) return 'capacity';
    return instance;
  }

  enter(): void {
    this.inFlight += 1;
    this.retriesSaved = Math.min(MAX_RETRIES_SAVED, this.retriesSaved + RETRY_SHARE);
  }

  leave(): void {
    this.inFlight -= 1;
  }

  takeRetry(): boolean {
    if (this.retriesSaved < 1) return false;
    this.retriesSaved -= 1;
    return true;
  }
}

/** Ties go to a random one: the first would otherwise serve all of a quiet revision's traffic. */
function idlest(instances: readonly Instance[]): Instance | undefined {
  let best: Instance | undefined;
  let ties = 0;
  for (const instance of instances) {
    if (best && instance.inFlight > best.inFlight) continue;
    ties = best && instance.inFlight === best.inFlight ? ties + 1 : 1;
    if (ties === 1 || Math.random() * ties < 1) best = instance;
  }
  return best;
}

export function specOfRow(row: BackendRow, open: (sealed: string) => string): BackendSpec {
  return {
    id: row.revision_id,
    tenantId: row.tenant_id,
    revisionName: row.revision_name,
    modelId: row.model_id,
    authorization: row.credential === null ? null : `Bearer ${open(row.credential)}`,
    guard: row.guard,
    instances: row.instances,
  };
}

/** Undefined for a binding that leads to a revision: that one has a backend of its own. */
export function specOfBinding(
  tenantId: string,
  binding: PublishedBinding,
  open: (sealed: string) => string,
): BackendSpec | undefined {
  const { upstream } = binding;
  if (upstream.kind !== 'supplier') return undefined;
  return {
    id: binding.binding_id,
    tenantId,
    revisionName: null,
    modelId: upstream.model,
    authorization: upstream.credential === null ? null : `Bearer ${open(upstream.credential)}`,
    guard: upstream.guard,
    instances: [{ id: binding.binding_id, base_url: upstream.base_url, state: 'ready' }],
  };
}
