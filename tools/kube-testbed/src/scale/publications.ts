import { DATAPLANE_CHANNEL } from '@slipway/contracts';
import pg from 'pg';
import type { KubeClient } from '../client.js';
import { PODS, type Pod } from '../objects.js';
import { isReady } from '../test-bed.js';

const INSTANCE_LABEL = 'slipway.dev/instance';
const RETRY_MS = 200;

interface ReadyPod {
  name: string;
  address: string;
  at: number;
}

/**
 * From a pod that the API server calls ready until gateways are told its address, as somebody sees it who watches both. That it watches from
 * outside makes a wait longer by what this process is late, or as short as nothing where it hears of the pod after the gateways do.
 */
export class Publications {
  /** Ready pods by instance. */
  readonly pods = new Map<string, ReadyPod>();
  /** Published addresses by instance. */
  private readonly addresses = new Map<string, string>();
  private readonly awaited = new Map<string, ReadyPod>();
  private waits: number[] = [];
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

  /** Milliseconds, of all pods since the last time that this was asked. */
  takeWaits(): number[] {
    const taken = this.waits;
    this.waits = [];
    return taken;
  }

  /** Whether pods and gateways are where these instances are. */
  isSame(addresses: ReadonlyMap<string, string>): boolean {
    return [...addresses].every(
      ([instance, address]) => this.pods.get(instance)?.address === address && this.addresses.get(instance) === address,
    );
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
      const { rows } = await this.database.query<{ instances: { id: string; base_url: string }[] }>(
        'select instances from dataplane_backends where revision_id = any($1)',
        [ids],
      );
      for (const { id, base_url } of rows.flatMap(({ instances }) => instances))
        this.published(id, new URL(base_url).hostname);
    }
  }

  private published(instance: string, address: string): void {
    this.addresses.set(instance, address);
    const waiting = this.awaited.get(instance);
    if (waiting?.address !== address) return;
    this.awaited.delete(instance);
    this.waits.push(performance.now() - waiting.at);
  }

  private async run(): Promise<void> {
    const { signal } = this.end;
    while (!signal.aborted) {
      try {
        const { items, resourceVersion } = await this.client.list<Pod>(PODS, { namespace: this.namespace });
        const there = new Set(items.map(({ metadata }) => metadata.name));
        for (const [instance, { name }] of this.pods) if (!there.has(name)) this.gone(instance);
        for (const pod of items) this.seen(pod);
        const watch = this.client.watch<Pod>(PODS, { namespace: this.namespace, resourceVersion, signal });
        for await (const { type, object } of watch) if (type !== 'BOOKMARK') this.seen(object, type === 'DELETED');
      } catch {
        if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  private seen(pod: Pod, isGone = false): void {
    const instance = pod.metadata.labels?.[INSTANCE_LABEL];
    if (instance === undefined) return;
    const { name } = pod.metadata;
    const known = this.pods.get(instance);
    const address = pod.status?.podIP;
    if (isGone || !isReady(pod) || address === undefined) {
      if (known?.name === name) this.gone(instance);
      return;
    }
    if (known?.name === name) return;
    const ready = { name, address, at: performance.now() };
    this.pods.set(instance, ready);
    if (this.addresses.get(instance) === address) this.waits.push(0);
    else this.awaited.set(instance, ready);
  }
  private gone(instance: string): void {
    this.pods.delete(instance);
    this.awaited.delete(instance);
  }
}
