import { DATAPLANE_CHANNEL } from '@slipway/contracts';
import pg from 'pg';
import type { KubeClient } from '../client.js';
import { PODS, type Pod } from '../objects.js';
import { Sightings } from './sightings.js';

const RETRY_MS = 200;

/**
 * Compares when the API server reports pods with when gateways receive their addresses, as an outside observer of both.
 * So a measured wait is longer by the delay of this process. It is zero if this process learns of the pod after the
 * gateways do.
 */
export class Publications {
  readonly seen = new Sightings();
  private pending = new Set<string>();
  private reading?: Promise<void>;
  private readonly end = new AbortController();
  private following?: Promise<void>;

  private constructor(
    private readonly client: KubeClient,
    private readonly namespace: string,
    private readonly database: pg.Client,
  ) {}

  static async follow(client: KubeClient, namespace: string, databaseUrl: string): Promise<Publications> {
    const database = new pg.Client({ connectionString: databaseUrl });
    await database.connect();
    const publications = new Publications(client, namespace, database);
    database.on('notification', ({ payload = '' }) => publications.note(payload));
    await database.query(`listen ${DATAPLANE_CHANNEL}`);
    publications.following = publications.run();
    return publications;
  }

  async close(): Promise<void> {
    this.end.abort();
    await this.following;
    await this.reading;
    await this.database.end();
  }

  private note(payload: string): void {
    if (!payload.startsWith('backend:')) return;
    this.pending.add(payload.slice('backend:'.length));
    this.reading ??= this.read().finally(() => (this.reading = undefined));
  }

  private async read(): Promise<void> {
    while (this.pending.size > 0) {
      const ids = [...this.pending];
      this.pending.clear();
      const { rows } = await this.database.query<{ id: string; instances: { id: string; base_url: string }[] }>(
        'select revision_id as id, instances from dataplane_backends where revision_id = any($1)',
        [ids],
      );
      const found = new Map(rows.map(({ id, instances }) => [id, instances]));
      for (const id of ids) {
        const instances = found.get(id) ?? [];
        this.seen.told(
          id,
          instances.map(({ id: instance, base_url }) => ({ id: instance, address: new URL(base_url).hostname })),
        );
      }
    }
  }

  private async run(): Promise<void> {
    const { signal } = this.end;
    const { namespace } = this;
    while (!signal.aborted) {
      try {
        const { items, resourceVersion } = await this.client.list<Pod>(PODS, { namespace });
        this.seen.listed(items);
        const watch = this.client.watch<Pod>(PODS, { namespace, resourceVersion, signal });
        for await (const { type, object } of watch) if (type !== 'BOOKMARK') this.seen.seen(object, type === 'DELETED');
      } catch (error) {
        if (signal.aborted) return;
        process.stderr.write(`the watch of pods begins anew: ${(error as Error).message}\n`);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }
}
