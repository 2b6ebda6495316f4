import type { BackendRow, PublishedRow } from '@slipway/dataplane';
import type { Log } from '../log.js';
import type { GatewaySettings } from '../settings.js';
import { UpstreamBackend, specOfBinding, specOfRow, type BackendSpec, type CredentialOpener } from './backend.js';
import type { GuardedDispatcher } from './instance.js';

export interface BackendListener {
  /** The backend is new or has changed. */
  onBackend(backend: UpstreamBackend): void;
  onBackendGone(backend: UpstreamBackend): void;
}

/** All backends by id of revision or binding, kept equal to the snapshot. */
export class Backends {
  private readonly byId = new Map<string, UpstreamBackend>();
  private readonly suppliersOfSlug = new Map<string, string[]>();
  private areNew = false;

  constructor(
    private readonly settings: GatewaySettings,
    private readonly guarded: GuardedDispatcher,
    private readonly credentials: CredentialOpener,
    private readonly log: Log,
    private readonly listener?: BackendListener,
  ) {}

  /**
   * Instances that appear from now on have just become usable. Those that this process found at its start may have run
   * for long: their ready time is not published, so they count as started.
   */
  noteStarted(): void {
    this.areNew = true;
  }

  get(id: string): UpstreamBackend | undefined {
    return this.byId.get(id);
  }

  [Symbol.iterator](): IterableIterator<UpstreamBackend> {
    return this.byId.values();
  }

  onBackend(row: BackendRow): void {
    this.take(row.revision_id, () => specOfRow(row, this.credentials));
  }

  onBackendGone(revisionId: string): void {
    const gone = this.byId.get(revisionId);
    gone?.close();
    this.byId.delete(revisionId);
    if (gone) this.listener?.onBackendGone(gone);
  }

  onSlug(row: PublishedRow): void {
    const before = this.suppliersOfSlug.get(row.slug) ?? [];
    const now: string[] = [];
    for (const binding of row.bindings) {
      if (binding.upstream.kind !== 'supplier') continue;
      now.push(binding.binding_id);
      this.take(binding.binding_id, () => specOfBinding(row.tenant_id, binding, this.credentials) as BackendSpec);
    }
    this.suppliersOfSlug.set(row.slug, now);
    for (const id of before) if (!now.includes(id)) this.onBackendGone(id);
  }

  onSlugGone(slug: string): void {
    for (const id of this.suppliersOfSlug.get(slug) ?? []) this.onBackendGone(id);
    this.suppliersOfSlug.delete(slug);
  }

  async destroy(): Promise<void> {
    await Promise.all([...this.byId.values()].map((backend) => backend.destroy()));
  }

  /** An unusable row (sealed with another key, broken URL) must not stop the gateway from following the others. */
  private take(id: string, specOf: () => BackendSpec): void {
    try {
      const spec = specOf();
      const known = this.byId.get(id);
      if (known) known.update(spec, this.areNew);
      const backend = known ?? new UpstreamBackend(spec, this.settings, this.guarded, this.areNew);
      this.byId.set(id, backend);
      this.listener?.onBackend(backend);
    } catch (error) {
      this.log.error({ backend: id, error: String(error) }, 'a published backend cannot be used');
      this.onBackendGone(id);
    }
  }
}
