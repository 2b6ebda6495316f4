import { Inject, Injectable } from '@nestjs/common';
import { readEntries } from '@slipway/dataplane';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, openSecret } from '@slipway/platform-database';
import type { BindingEntity } from './binding.entity.js';
import { Egress } from '@slipway/platform-egress';
import type { CallableTarget } from './target-calls.js';

export type CallableBinding = Pick<BindingEntity, 'id' | 'target' | 'revision_id' | 'credential'>;

/** Where a binding's requests go, as the gateway would send them: same address, same model, same credential, same guard. */
@Injectable()
export class QualifiedTarget {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'secretKey'>,
    private readonly database: Database,
    private readonly egress: Egress,
  ) {}

  /** Undefined when nothing is ready to be called. */
  async of(binding: CallableBinding): Promise<CallableTarget | undefined> {
    if (binding.revision_id !== null) return this.revision(binding.revision_id);
    const { base_url: baseUrl, model } = binding.target as { base_url: string; model: string };
    const credential =
      binding.credential === null ? undefined : openSecret(this.config.secretKey, binding.credential, binding.id);
    return { baseUrl, model, credential, dispatcher: this.egress.dispatcher(this.egress.patternsFor(baseUrl)) };
  }

  private async revision(revisionId: string): Promise<CallableTarget | undefined> {
    const { backends } = await this.database.tx('system', (tx) =>
      readEntries(tx, { routes: [], backends: [revisionId], slugs: [], passports: [] }),
    );
    const [backend] = backends;
    const baseUrl = backend?.instances.find((instance) => instance.state === 'ready')?.base_url;
    if (!backend || baseUrl === undefined) return undefined;
    const credential = backend.credential === null ? undefined : openSecret(this.config.secretKey, backend.credential);
    // A child process of this host: nothing else may be reached at its address.
    const allow = backend.guard?.allow ?? [new URL(baseUrl).origin];
    return { baseUrl, model: backend.model_id, credential, dispatcher: this.egress.dispatcher(allow) };
  }
}
