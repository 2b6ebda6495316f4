import type { InstanceSpec } from '@slipway/target-driver';
import { INFERENCE_POOLS, PDBS, SERVICES, type Kind } from './api/kinds.js';
import type { KubeObject } from './api/objects.js';
import type { KubeApi } from './api/requests.js';
import { pdbOf, poolOf, serviceOf, unitServiceOf } from './revision-objects.js';
import type { KubernetesTargetConfig } from './target-config.js';
import { ownerReferenceTo, type Unit } from './unit-kind.js';
import { LABEL, type Writer } from './unit-labels.js';
import type { UnitWatch } from './unit-watch.js';

/** Between two looks at them: they are seldom touched, and nothing serves by them but other people's routes. */
const SWEEP_MS = 60_000;
const RETRY_MS = 5_000;
const WRITER = { manager: 'slipway', force: true };

/** One kind in one namespace. */
interface Place {
  kind: Kind;
  namespace: string;
  /** What is there, by name. Undefined until it was listed. */
  specs?: Map<string, unknown>;
}

interface Wanted {
  place: Place;
  /** For which it is there: a revision, as labels have it, or the unit of a uid. */
  whose: string;
  object: KubeObject;
}

/**
 * What all units of a revision share, and the Service of one unit where engines are reached by one: made when the first is seen, made anew
 * where somebody removes it or the operator's file says otherwise, removed with the last unit. Nothing waits for it.
 */
export class RevisionObjects {
  private readonly wanted = new Map<string, Wanted>();
  /** Of which units this was thought of, and under what: looks are many, and nearly all of them say nothing new. */
  private readonly kept = new Set<string>();
  private config?: KubernetesTargetConfig;
  /** Once there, for good: what was made there is removed there, whatever the file says by then. */
  private readonly places = new Map<string, Place>();
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
    if (this.config !== config) this.follow(config);
    if (!Object.hasOwn(config.engines, spec.runtime.engine ?? '')) return;
    const { uid = '' } = unit.metadata;
    if (!this.kept.has(uid)) this.wantAll(spec, config, unit);
    this.kept.add(uid);
    if (this.isDue && performance.now() - this.failedAt > RETRY_MS) this.begin(() => this.complete());
  }

  /** Now and then: what was removed comes back, what nobody needs goes. */
  sweep(): void {
    if (performance.now() - this.sweptAt < (this.options.sweepMs ?? SWEEP_MS)) return;
    this.sweptAt = performance.now();
    this.begin(async () => {
      const [removal] = await Promise.allSettled([this.removeUnneeded()]);
      await this.complete();
      if (removal.status === 'rejected') throw removal.reason;
    });
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await this.work;
  }

  /** Each unit is asked about anew by its next look. */
  private follow(config: KubernetesTargetConfig): void {
    this.config = config;
    this.kept.clear();
    this.wanted.clear();
  }

  private wantAll(spec: InstanceSpec, config: KubernetesTargetConfig, unit: Unit): void {
    const { writer } = this.options;
    this.want(SERVICES, serviceOf(spec, config, writer));
    this.want(PDBS, pdbOf(spec, config, writer));
    const own = unitServiceOf(spec, config, writer);
    if (own) this.want(SERVICES, ownedBy(own, unit), unit.metadata.uid);
    const pool = poolOf(spec, config, writer);
    if (pool) this.want(INFERENCE_POOLS, pool);
  }

  private want(kind: Kind, object: KubeObject, unit?: string): void {
    const { name, namespace = '', labels = {} } = object.metadata;
    const place = this.placeOf(kind, namespace);
    this.wanted.set(`${kind.plural}/${namespace}/${name}`, {
      place,
      whose: unit ?? labels[LABEL.revision] ?? '',
      object,
    });
    if (!isThere(place, object)) this.isDue = true;
  }

  private placeOf(kind: Kind, namespace: string): Place {
    const key = `${kind.plural}/${namespace}`;
    const place = this.places.get(key) ?? { kind, namespace };
    this.places.set(key, place);
    return place;
  }

  private begin(work: () => Promise<void>): void {
    this.isDue = false;
    this.work = this.work.then(work).catch((error: unknown) => {
      this.isDue = true;
      this.failedAt = performance.now();
      this.options.onTrouble(error);
    });
  }

  /** What is there as it should be stays so: a worker that begins anew writes nothing. */
  private async complete(): Promise<void> {
    const places = [...new Set([...this.wanted.values()].map(({ place }) => place))];
    await eachByItself(places, async (place) => {
      if (!place.specs) await this.look(place);
      for (const { object, ...wanted } of this.wanted.values()) {
        if (wanted.place !== place || isThere(place, object)) continue;
        const { spec } = await this.api.apply(place.kind, place.namespace, object, WRITER);
        place.specs?.set(object.metadata.name, spec);
      }
    });
  }

  private async removeUnneeded(): Promise<void> {
    this.kept.clear();
    const needed = new Set<string>();
    for (const [, { units }] of this.watch.all())
      for (const { metadata } of units)
        for (const whose of [metadata.labels?.[LABEL.revision], metadata.uid])
          needed.add(`${metadata.namespace}/${whose}`);
    // What cannot be seen at the moment may well be there.
    const isNeeded = (namespace: string, whose: string | undefined) =>
      !this.watch.isSyncedIn(namespace) || needed.has(`${namespace}/${whose}`);
    for (const [key, { place, whose }] of this.wanted) if (!isNeeded(place.namespace, whose)) this.wanted.delete(key);
    const places = [...this.places.values()].filter(({ namespace }) => this.watch.isSyncedIn(namespace));
    await eachByItself(places, async (place) => {
      const { kind, namespace } = place;
      const isAskedFor = kind !== INFERENCE_POOLS || this.config?.inference_pool !== undefined;
      for (const { metadata } of await this.look(place)) {
        const { labels = {}, name, uid } = metadata;
        // What one unit owns goes with it.
        const isUseless =
          labels[LABEL.instance] === undefined && !(isAskedFor && isNeeded(namespace, labels[LABEL.revision]));
        if (!isUseless) continue;
        await this.api.delete(kind, namespace, name, { uid });
        // The next unit of the revision makes it anew.
        place.specs?.delete(name);
      }
    });
  }

  private async look(place: Place): Promise<KubeObject[]> {
    const { labelSelector } = this.options;
    const { items } = await this.api.list(place.kind, place.namespace, { labelSelector });
    place.specs = new Map(items.map(({ metadata, spec }) => [metadata.name, spec]));
    return items;
  }
}

/** A namespace that refuses us, or a type that the server lacks, holds up no other. @throws what the first of them threw */
async function eachByItself(places: readonly Place[], work: (place: Place) => Promise<void>): Promise<void> {
  const done = await Promise.allSettled(places.map(work));
  const failed = done.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}

function ownedBy<T extends KubeObject>(object: T, unit: Unit): T {
  return { ...object, metadata: { ...object.metadata, ownerReferences: [ownerReferenceTo(unit)] } };
}

function isThere({ specs }: Place, { metadata, spec }: KubeObject): boolean {
  return specs?.has(metadata.name) === true && holds(specs.get(metadata.name), spec);
}

/** Whether all that is wanted is there; what a server fills in is its own. */
function holds(found: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return found === wanted;
  if (typeof found !== 'object' || found === null) return false;
  if (Array.isArray(wanted) && wanted.length !== (found as unknown[]).length) return false;
  return Object.entries(wanted).every(([key, one]) => holds((found as Record<string, unknown>)[key], one));
}
