import { Inject, Injectable } from '@nestjs/common';
import { readEntries } from '@slipway/dataplane';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, openSecret } from '@slipway/platform-database';
import type { BindingRow } from './binding.query.js';
import { Egress } from '@slipway/platform-egress';
import type { CallableTarget } from './target-calls.js';

/** Where a binding's requests go, as the gateway would send them: same address, same model, same credential, same guard. */
@Injectable()
export class QualifiedTarget {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'secretKey'>,
    private readonly database: Database,
    private readonly egress: Egress,
  ) {}

  /** Undefined when nothing is ready to be called. */
  async of(binding: BindingRow): Promise<CallableTarget | undefined> {
    if (binding.revisionId !== null) return this.revision(binding.revisionId);
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
