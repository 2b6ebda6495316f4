import { Inject, Injectable } from '@nestjs/common';
import {
  backendContext,
  instanceKey,
  openPublished,
  readEntries,
  type BackendRow,
  type PublishedInstance,
} from '@slipway/dataplane';
import { tenantName } from '@slipway/platform-http/auth';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, openSecret } from '@slipway/platform-database';
import type { BindingEntity } from './binding.entity.js';
import { Egress } from '@slipway/platform-egress';
import type { CallableServer } from '@slipway/target-driver/qualification';

export type CallableBinding = Pick<BindingEntity, 'id' | 'tenant_id' | 'target' | 'revision_id' | 'credential'>;

/** One of the instances that answer for a binding. */
export interface CallableInstance extends CallableServer {
  id: string;
}

export const LONGEST_URL_SHOWN = 120;

/** Resolves the servers of a binding as the gateway does: same address, same model, same credential, same guard. */
@Injectable()
export class QualifiedTarget {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'keyRing'>,
    private readonly database: Database,
    private readonly egress: Egress,
  ) {}

  /** Returns all that are ready to be called, in the order of their instances; a supplier is one. */
  async of(binding: CallableBinding): Promise<CallableInstance[]> {
    if (binding.revision_id !== null) return this.revision(binding.revision_id);
    const { base_url: baseUrl, model } = binding.target as { base_url: string; model: string };
    const credential =
      binding.credential === null ? undefined : openSecret(this.config.keyRing, binding.credential, binding.id);
    const name = await this.database.tx('system', (tx) => tenantName(tx, binding.tenant_id));
    const dispatcher = this.egress.dispatcher(this.egress.patternsFor(name, baseUrl));
    return [{ id: binding.id, baseUrl, model, credential, dispatcher }];
  }

  private async revision(revisionId: string): Promise<CallableInstance[]> {
    const { backends } = await this.database.tx('system', (tx) =>
      readEntries(tx, { routes: [], backends: [revisionId], slugs: [], passports: [] }),
    );
    const [backend] = backends;
    if (!backend) return [];
    return backend.instances.filter(({ state }) => state === 'ready').map((one) => this.instance(backend, one));
  }

  private instance(backend: BackendRow, published: PublishedInstance): CallableInstance {
    const { id, base_url: baseUrl, api_path: apiPath } = published;
    // A child process of this host: nothing else may be reached at its address.
    const allow = backend.guard?.allow ?? [new URL(baseUrl).origin];
    const credential = this.credentialOf(backend, published);
    const dispatcher = this.egress.dispatcher(allow, { isEngine: true });
    return { id, baseUrl, apiPath, model: backend.model_id, credential, dispatcher };
  }

  private credentialOf(backend: BackendRow, { id, key }: PublishedInstance): string | undefined {
    const { keyRing } = this.config;
    if (key !== undefined) return instanceKey(keyRing, { instanceId: id, generation: key.generation, keyId: key.id });
    if (backend.credential === null) return undefined;
    return openPublished(keyRing, backend.credential, backendContext(backend.tenant_id, backend.revision_id));
  }
}
