import type { InstanceSpec } from '@slipway/target-driver';
import { INFERENCE_POOLS, PDBS, SERVICES, type KubeKind } from '../api/kinds.js';
import type { KubeObject } from '../api/objects.js';
import type { KubeApi } from '../api/requests.js';
import { pdbOf, poolOf, serviceOf, unitServiceOf } from '../manifests/revision-objects.js';
import { RevisionObjectSet, type RevisionObjectSetOptions, TenantWriteQueue } from './revision-object-set.js';
import { namespaceFor, type KubernetesTargetConfig } from '../target-config.js';
import { ownerReferenceTo, type Unit } from '../manifests/unit-kind.js';
import { LABEL, type Writer } from '../manifests/unit-labels.js';
import type { UnitWatch } from '../instances/unit-watch.js';

/** The pause between two checks for objects that are no longer needed. */
const SWEEP_MS = 60_000;
const KINDS = [SERVICES, PDBS, INFERENCE_POOLS];

/**
 * The objects that all units of a revision share, and the Service of one unit with `reach: service`. They are created
 * when the first unit is observed, restored if another client removes them or the operator's file changes, and removed
 * with the last unit. Nothing waits for them.
 */
export class RevisionKeeper {
  /** Units that were handled. There are many observations, and nearly all of them are of the same units. */
  private readonly kept = new Set<string>();
  private config?: KubernetesTargetConfig;
  /** Kept for good once created: objects that were made here are removed here, whatever the file contains by then. */
  private readonly sets = new Map<string, RevisionObjectSet>();
  private readonly writes = new TenantWriteQueue();
  private sweptAt = performance.now();
  private isClosed = false;

  constructor(
    private readonly api: KubeApi,
    private readonly units: Pick<UnitWatch, 'all' | 'has' | 'isSyncedIn'>,
    private readonly options: Omit<RevisionObjectSetOptions, 'writes'> & { writer: Writer; sweepMs?: number },
  ) {}

  /** A unit of the revision exists, and needs the objects of its revision. */
  keep(spec: InstanceSpec, config: KubernetesTargetConfig, unit: Unit): void {
    if (this.isClosed) return;
    if (this.config !== config) this.follow(config);
    if (!Object.hasOwn(config.engines, spec.runtime.engine ?? '')) return;
    const { uid = '' } = unit.metadata;
    if (!this.kept.has(uid)) this.wantAll(spec, config, unit);
    this.kept.add(uid);
    const { namespace = namespaceFor(config, spec.tenantName) } = unit.metadata;
    for (const kind of KINDS) this.sets.get(keyOf(kind, namespace))?.attend();
  }

  /** Removes objects that are no longer needed, from time to time. */
  sweep(): void {
    if (performance.now() - this.sweptAt < (this.options.sweepMs ?? SWEEP_MS)) return;
    this.sweptAt = performance.now();
    this.kept.clear();
    const needed = new Set<string>();
    for (const [, { units }] of this.units.all())
      for (const { metadata } of units)
        for (const whose of [metadata.labels?.[LABEL.revision], metadata.uid])
          needed.add(`${metadata.namespace}/${whose}`);
    for (const set of this.sets.values()) {
      const { kind, namespace } = set;
      const isAskedFor = kind !== INFERENCE_POOLS || this.config?.inference_pool !== undefined;
      // Units that the watch does not show at the moment may well exist.
      if (this.units.isSyncedIn(namespace)) set.sweep((whose) => isAskedFor && needed.has(`${namespace}/${whose}`));
    }
  }

  /** Resolves when no write is in progress. */
  async settled(): Promise<void> {
    await Promise.all([...this.sets.values()].map((set) => set.settled()));
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.sets.values()].map((set) => set.close()));
  }

  /** The next observation of each unit handles it again. */
  private follow(config: KubernetesTargetConfig): void {
    this.config = config;
    this.kept.clear();
    for (const set of this.sets.values()) set.wantNothing();
  }

  private wantAll(spec: InstanceSpec, config: KubernetesTargetConfig, unit: Unit): void {
    const { writer } = this.options;
    this.want(SERVICES, besides(unit, serviceOf(spec, config, writer)));
    this.want(PDBS, besides(unit, pdbOf(spec, config, writer)));
    const own = unitServiceOf(spec, config, writer);
    if (own) this.want(SERVICES, besides(unit, ownedBy(own, unit)), unit.metadata.uid);
    const pool = poolOf(spec, config, writer);
    if (pool) this.want(INFERENCE_POOLS, besides(unit, pool));
  }

  private want(kind: KubeKind, object: KubeObject, unit?: string): void {
    const { namespace = '' } = object.metadata;
    const key = keyOf(kind, namespace);
    const options = { ...this.options, writes: this.writes };
    const set = this.sets.get(key) ?? new RevisionObjectSet(this.api, this.units, kind, namespace, options);
    this.sets.set(key, set);
    set.want(object, unit);
  }
}

const keyOf = ({ plural }: KubeKind, namespace: string): string => `${plural}/${namespace}`;

/** In the namespace of the unit, which the operator's file may no longer name. */
function besides<T extends KubeObject>({ metadata: { namespace } }: Unit, object: T): T {
  return namespace === undefined ? object : { ...object, metadata: { ...object.metadata, namespace } };
}

function ownedBy<T extends KubeObject>(object: T, unit: Unit): T {
  return { ...object, metadata: { ...object.metadata, ownerReferences: [ownerReferenceTo(unit)] } };
}
