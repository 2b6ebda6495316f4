import type { InstanceSpec } from '@slipway/target-driver';
import { PDBS, SERVICES, type Kind } from './api/kinds.js';
import type { KubeObject } from './api/objects.js';
import type { KubeApi } from './api/requests.js';
import { pdbOf, serviceOf, unitServiceOf } from './revision-objects.js';
import type { KubernetesTargetConfig } from './target-config.js';
import { ownerReferenceTo, type Unit } from './unit-kind.js';
import { LABEL, type Writer } from './unit-labels.js';
import type { UnitWatch } from './unit-watch.js';

/** Between two looks at them: they are seldom touched, and nothing serves by them but other people's routes. */
const SWEEP_MS = 60_000;
const RETRY_MS = 5_000;
const WRITER = { manager: 'slipway', force: true };
const KINDS: readonly Kind[] = [SERVICES, PDBS];

interface Wanted {
  kind: Kind;
  namespace: string;
  revision: string;
  object: KubeObject;
}

/**
 * What all units of a revision share, and the Service of one unit where engines are reached by one: made when the first is seen, made anew
 * where somebody removes it, removed with the last unit. Nothing waits for it.
 */
export class RevisionObjects {
  private readonly wanted = new Map<string, Wanted>();
  /** For which units this was thought of, and under what: looks are many, and nearly all of them say nothing new. */
  private readonly kept = new Set<string>();
  private keptFor?: KubernetesTargetConfig;
  /** Keys of what there is, by namespace. Undefined until it was listed. */
  private readonly present = new Map<string, Set<string>>();
  private work: Promise<void> = Promise.resolve();
  private isDue = false;
  private sweptAt = performance.now();
  private failedAt = -Infinity;

  constructor(
    private readonly api: Pick<KubeApi, 'list' | 'apply' | 'delete'>,
    private readonly watch: Pick<UnitWatch, 'all' | 'isSyncedIn'>,
    private readonly options: {
      labelSelector: string;
      writer: Writer;
      onTrouble(error: unknown): void;
      sweepMs?: number;
    },
  ) {}

  /** A unit of the revision is there, and wants what its revision has. */
  keep(spec: InstanceSpec, config: KubernetesTargetConfig, unit: Unit): void {
    if (!Object.hasOwn(config.engines, spec.runtime.engine ?? '')) return;
    if (!this.isKept(config, unit)) this.wantAll(spec, config, unit);
    if (this.isDue && performance.now() - this.failedAt > RETRY_MS) this.begin(() => this.complete());
  }

  /** Now and then: what was removed comes back, what nobody needs goes. */
  sweep(): void {
    if (performance.now() - this.sweptAt < (this.options.sweepMs ?? SWEEP_MS)) return;
    this.sweptAt = performance.now();
    this.begin(async () => {
      await this.removeUnneeded();
      this.isDue = true;
      await this.complete();
    });
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await this.work;
  }

  private isKept(config: KubernetesTargetConfig, { metadata: { uid = '' } }: Unit): boolean {
    if (this.keptFor !== config) this.kept.clear();
    this.keptFor = config;
    const isKept = this.kept.has(uid);
    this.kept.add(uid);
    return isKept;
  }

  private wantAll(spec: InstanceSpec, config: KubernetesTargetConfig, unit: Unit): void {
    const { writer } = this.options;
    this.want(SERVICES, serviceOf(spec, config, writer));
    this.want(PDBS, pdbOf(spec, config, writer));
    const own = unitServiceOf(spec, config, writer);
    if (own) this.want(SERVICES, ownedBy(own, unit));
  }

  private want(kind: Kind, object: KubeObject): void {
    const key = keyOf(kind, object);
    const { namespace = '', labels = {} } = object.metadata;
    const isThere = this.wanted.has(key) && this.present.get(namespace)?.has(key);
    this.wanted.set(key, { kind, namespace, revision: labels[LABEL.revision] ?? '', object });
    if (!isThere) this.isDue = true;
  }

  private begin(work: () => Promise<void>): void {
    this.isDue = false;
    this.work = this.work.then(work).catch((error: unknown) => {
      this.isDue = true;
      this.failedAt = performance.now();
      this.options.onTrouble(error);
    });
  }

  /** What is there stays as it is: a worker that begins anew writes nothing. A namespace that refuses us holds up no other. */
  private async complete(): Promise<void> {
    const namespaces = new Set([...this.wanted.values()].map((one) => one.namespace));
    const done = await Promise.allSettled([...namespaces].map((namespace) => this.completeIn(namespace)));
    const failed = done.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  }

  private async completeIn(namespace: string): Promise<void> {
    if (!this.present.has(namespace)) await this.look(namespace);
    const present = this.present.get(namespace)!;
    for (const [key, { kind, object, ...wanted }] of this.wanted) {
      if (wanted.namespace !== namespace || present.has(key)) continue;
      await this.api.apply(kind, namespace, object, WRITER);
      present.add(key);
    }
  }

  private async removeUnneeded(): Promise<void> {
    this.kept.clear();
    const needed = new Set<string>();
    for (const [, { units }] of this.watch.all())
      for (const { metadata } of units) needed.add(`${metadata.namespace}/${metadata.labels?.[LABEL.revision]}`);
    // What cannot be seen at the moment may well be there.
    const isNeeded = (namespace: string, revision: string | undefined) =>
      !this.watch.isSyncedIn(namespace) || needed.has(`${namespace}/${revision}`);
    for (const [key, { namespace, revision }] of this.wanted)
      if (!isNeeded(namespace, revision)) this.wanted.delete(key);
    for (const namespace of [...this.present.keys()].filter((one) => this.watch.isSyncedIn(one)))
      for (const { kind, object } of await this.look(namespace)) {
        const { labels = {}, name, uid } = object.metadata;
        // What one unit owns goes with it.
        const isUseless = labels[LABEL.instance] === undefined && !isNeeded(namespace, labels[LABEL.revision]);
        if (isUseless) await this.api.delete(kind, namespace, name, { uid });
      }
  }

  private async look(namespace: string): Promise<{ kind: Kind; object: KubeObject }[]> {
    const { labelSelector } = this.options;
    const found = await Promise.all(
      KINDS.map(async (kind) =>
        (await this.api.list(kind, namespace, { labelSelector })).items.map((object) => ({ kind, object })),
      ),
    );
    this.present.set(namespace, new Set(found.flat().map(({ kind, object }) => keyOf(kind, object))));
    return found.flat();
  }
}

function ownedBy<T extends KubeObject>(object: T, unit: Unit): T {
  return { ...object, metadata: { ...object.metadata, ownerReferences: [ownerReferenceTo(unit)] } };
}

function keyOf({ plural }: Kind, { metadata: { name, namespace = '' } }: KubeObject): string {
  return `${plural}/${namespace}/${name}`;
}
