import {
  askEngineLoad,
  assertSpec,
  probeHealth,
  SAFE_NAME,
  TargetConfigError,
  type CallableServer,
  type DriverHost,
  type EngineDescription,
  type EngineLoad,
  type EngineTraits,
  type InstanceRef,
  type InstanceSpec,
  type LogLine,
  type LogOptions,
  type Observation,
  type InstanceSpecIssue,
  type TargetDriver,
  type TargetHealth,
  type UnitLocation,
  type UnknownUnits,
} from '@slipway/target-driver';
import type { InstanceDevices } from '@slipway/contracts';
import type { TargetConfig } from '@slipway/platform-config';
import { isDeepStrictEqual } from 'node:util';
import { Agent } from 'undici';
import { instanceLog, loggedPod, type LoggedPod } from '../logs/instance-log.js';
import { StartEvidence } from '../logs/start-evidence.js';
import { isNegative, viewInstance, type InstanceView } from '../instances/instance-view.js';
import { KubernetesSessions, type KubernetesDriverOptions, type KubernetesSession } from './session.js';
import { refusedStart, startUnit } from './start.js';
import { assertMayMake, namespacesMade, otherCluster, unitLocation } from './unit-location.js';
import { unknownUnits } from './unknown-units.js';
import { buryUnits, listUnits, namespacesIn, stopUnit, stopUnits } from './stop.js';
import { podOf, isStopped } from '../instances/pod-state.js';
import { namespaceFor, namespacesOf, type KubernetesTargetConfig } from '../target-config.js';
import { kubernetesSpecIssues } from '../config/spec-check.js';
import {
  describeEngine,
  engineTraits,
  instanceDevices,
  probePathOf,
  targetWarnings,
} from '../config/engine-description.js';
import { type Unit, isWorker, sizeOf } from '../manifests/unit-kind.js';
import { LABEL, labelValue, unitName } from '../manifests/unit-names.js';
import { generationIn, type InstanceObjects } from '../instances/unit-watch.js';
import { PODS } from '../api/kinds.js';
import type { Pod } from '../api/objects.js';
import type { KubeApi } from '../api/requests.js';
import { isLate } from '../instances/pod-groups.js';
import { hasLabels, type LiveUnits } from '../instances/live-units.js';
import { CREATED_SPEC, isSpecChanged } from '../instances/unit-drift.js';
import { unitLabels, unitSelector } from '../manifests/unit-labels.js';
import { isLeaving, isOver } from '../instances/pod-ends.js';

/** With more namespaces, an instance is searched only in its own namespace and where it was seen. */
const MOST_SEARCHED = 8;

type Host = Pick<DriverHost, 'installation' | 'pausePoint'>;

/**
 * Runs each instance as one unit of a Kubernetes cluster, written once: a Deployment of one pod, or a group of pods.
 * Kubernetes restarts and probes. The driver counts, names reasons and never starts a generation twice. State comes
 * from one watch for all instances. Only a live answer proves that something does not exist; without one, the driver
 * reports that it cannot observe.
 */
export class KubernetesDriver implements TargetDriver {
  readonly kind = 'kubernetes';
  readonly adopts = false;
  readonly restarts = 'target';
  readonly probes = 'target';
  readonly outlivesHost = true;
  readonly name: string;
  private config: KubernetesTargetConfig;
  private readonly sessions: KubernetesSessions;
  private readonly evidence = new StartEvidence();
  private readonly listeners: ((instanceId: string) => void)[] = [];
  private readonly agent = new Agent({ pipelining: 0 });
  /** Keys of specs that this object has observed, because an engine may print its own. */
  private readonly keys = new Map<string, string>();
  private readonly pausePoint = (name: string) => this.host.pausePoint(`kubernetes:${name}`);

  constructor(
    config: KubernetesTargetConfig,
    private readonly host: Host,
    private readonly options: KubernetesDriverOptions = {},
  ) {
    this.name = config.name;
    this.config = config;
    const tell = (instanceId: string) => this.listeners.forEach((listener) => listener(instanceId));
    this.sessions = new KubernetesSessions(() => this.config, host, options, tell);
  }

  get secrets(): 'references' | 'both' {
    return this.config.secrets === 'managed' ? 'both' : 'references';
  }

  reconfigure(config: KubernetesTargetConfig & TargetConfig): () => void {
    // This process could no longer observe or stop the instances in the old cluster.
    if (!isDeepStrictEqual(config.cluster, this.config.cluster))
      throw new TargetConfigError(config.name, [
        'its cluster cannot change while the process runs: use another name for the target, or restart the process',
      ]);
    return () => {
      this.config = config;
      this.sessions.refresh();
    };
  }

  engines(): EngineDescription[] {
    return Object.keys(this.config.engines).map((name) => describeEngine(this.config, name));
  }

  traits(spec: InstanceSpec): EngineTraits | undefined {
    return engineTraits(this.config, spec);
  }

  instanceDevices(spec: Pick<InstanceSpec, 'runtime' | 'resources'>): InstanceDevices | undefined {
    return instanceDevices(this.config, spec);
  }

  check(spec: InstanceSpec): InstanceSpecIssue[] {
    return kubernetesSpecIssues(spec, this.config);
  }

  warnings(): string[] {
    return targetWarnings(this.config);
  }

  health(): TargetHealth {
    return this.sessions.health;
  }

  async provision(spec: InstanceSpec): Promise<void> {
    assertSpec(this, spec);
    const session = await this.sessions.open();
    const { config, pausePoint } = this;
    this.followMade(session, spec.instanceId, spec.madeAt);
    assertMayMake(unitLocation(session.api, config, spec), spec.madeAt);
    const namespaces = this.searched(session, spec.instanceId, spec.madeAt, spec);
    await this.noting(session, () => startUnit(session, spec, { config, namespaces, pausePoint }));
  }

  locationOf(spec: Pick<InstanceSpec, 'tenantName'>): UnitLocation {
    return unitLocation(this.sessions, this.config, spec);
  }

  unreachable(_instanceId: string, madeAt: readonly UnitLocation[]): string | undefined {
    try {
      return otherCluster(this.sessions, madeAt);
    } catch {
      // The health of the target shows why its cluster cannot be opened.
      return undefined;
    }
  }

  /** Does not call `check`: a running instance is observed even if the operator has changed the target since. */
  async observe(spec: InstanceSpec): Promise<Observation> {
    const { instanceId, instanceKey } = spec;
    if (!SAFE_NAME.test(instanceId)) return { state: 'absent' };
    this.followMade(await this.sessions.open(), instanceId, spec.madeAt);
    const session = await this.sessions.known(this.namespaceOf(spec));
    if (instanceKey !== undefined) this.keys.set(instanceId, instanceKey);
    session.health.used();
    const refused = this.waitingStart(session, spec);
    if (refused) return refused;
    const view = await this.viewConfirmed(session, spec);
    await this.stopOutdated(session, spec, view);
    await this.repair(session, spec, view);
    if (view.own) session.revisions.keep(spec, this.config, view.own.unit);
    const pod = view.own && podOf(view.own.pods);
    const seen = await this.evidence.add(session.api, instanceId, pod, view.observation, this.secretsOf(instanceId));
    return withRefused(seen, session.refused.of(labelValue(instanceId), instanceId, ...revisionsOf(view)));
  }

  async answers(spec: InstanceSpec, baseUrl: string): Promise<boolean> {
    // An engine that the operator has removed from the file no longer has a path.
    if (!this.traits(spec)) return false;
    const url = `${baseUrl}${probePathOf(this.config, spec)}`;
    const { timeoutSeconds } = spec.probe;
    // Without its key, like the kubelet, because another pod may have the address by now.
    return (await probeHealth({ url, timeoutSeconds, dispatcher: this.agent })).isHealthy;
  }

  callable({ model, instanceKey: credential }: InstanceSpec, baseUrl: string): CallableServer {
    return { baseUrl, model: model.id, credential, dispatcher: this.agent };
  }

  async load(spec: InstanceSpec, baseUrl: string): Promise<EngineLoad | undefined> {
    const { [spec.runtime.engine ?? '']: engine } = this.config.engines;
    if (!engine?.metrics) return undefined;
    return askEngineLoad(baseUrl, engine.metrics, { dispatcher: this.agent, key: spec.instanceKey });
  }

  async terminate(instanceId: string, madeAt: readonly UnitLocation[] = []): Promise<'stopping' | 'gone'> {
    if (!SAFE_NAME.test(instanceId)) return 'gone';
    const session = await this.sessions.open();
    this.followMade(session, instanceId, madeAt);
    const namespaces = this.searched(session, instanceId, madeAt);
    const state = await this.noting(session, () => stopUnits(session, instanceId, namespaces, this.pausePoint));
    if (state === 'gone') {
      this.keys.delete(instanceId);
      this.evidence.forget(instanceId);
      session.former.forget(instanceId);
      session.refused.forget(instanceId);
    }
    return state;
  }

  async list(madeAt: readonly UnitLocation[] = []): Promise<InstanceRef[]> {
    const session = await this.sessions.known();
    session.former.search(namespacesMade(madeAt.filter((one) => otherCluster(session.api, [one]) === undefined)));
    session.former.leave();
    session.health.used();
    await this.noting(session, () => buryUnits(session, this.config.retain_seconds));
    session.revisions.sweep();
    return this.noting(session, () => listUnits(session));
  }

  async unknownUnits(targets: ReadonlySet<string>): Promise<UnknownUnits[]> {
    const { watch, writer } = await this.sessions.known();
    return unknownUnits(watch, this.name, targets, writer);
  }

  onChange(listener: (instanceId: string) => void): void {
    this.listeners.push(listener);
    // The listener applies from now on. If the cluster cannot be opened, the target's health shows why.
    void this.sessions.open().catch(() => undefined);
  }

  async *logs(instanceId: string, options: LogOptions): AsyncIterable<LogLine> {
    if (!SAFE_NAME.test(instanceId)) return;
    const session = await this.sessions.known();
    const find = () => this.loggedPodOf(session, instanceId);
    yield* instanceLog(session.api, find, options, [...(options.secrets ?? []), ...this.secretsOf(instanceId)]);
  }

  async close(): Promise<void> {
    this.listeners.length = 0;
    await this.sessions.close();
    await this.agent.destroy();
  }

  /**
   * A start that was refused and not sent again so far. It costs no request: only the next try can show more. When that
   * is due, the generation counts as not started, as it was before.
   */
  private waitingStart(session: KubernetesSession, spec: InstanceSpec): Observation | undefined {
    const refused = refusedStart(session, spec, this.config);
    if (!refused) return undefined;
    session.refused.of(spec.instanceId);
    const { reason, message, isDue } = refused;
    if (isDue) return { state: 'absent' };
    return { state: 'starting', generation: spec.generation, reason, message };
  }

  private async viewConfirmed(session: KubernetesSession, spec: InstanceSpec): Promise<InstanceView> {
    const { instanceId, generation } = spec;
    const { watch, live } = session;
    const memory = {
      reach: this.config.reach,
      left: watch.leftOf(instanceId, generation),
      wasReady: (incarnation: string) => watch.wasReady(incarnation),
      refused: watch.refused.bind(watch),
      lateMs: this.options.groups?.lateMs,
      strays: watch.straysOf(instanceId),
      createdSpecOf: (unit: Unit) => watch.createdSpecOf(instanceId, unit),
    };
    const cached = watch.of(instanceId);
    const view = viewInstance(spec, cached, memory);
    const isAlone = isWithoutUnit(spec, view, cached);
    if (!isNegative(view.observation) && !isAlone) return view;
    const namespaces = this.searched(session, instanceId, spec.madeAt, spec);
    const found: InstanceObjects = isAlone
      ? cached
      : await this.noting(session, () => live.find(instanceId, namespaces));
    const confirmed = isAlone ? view : viewInstance(spec, found, memory);
    if (confirmed.own || (confirmed.observation.state !== 'absent' && !isAlone)) return confirmed;
    const labels = unitLabels(spec, this.config, session.writer);
    const wanted = { selector: unitSelector(spec, session.writer), labels, isRepeated: isAlone };
    const unit = await this.noting(session, () => live.findUnlabelled(unitName(spec), this.namespaceOf(spec), wanted));
    if (!unit) return confirmed;
    watch.remember(unit);
    return viewInstance(spec, { ...found, units: [...found.units, unit] }, memory);
  }

  /**
   * Stops outdated units. A failure does not affect the observation of the requested generation; the next observation
   * tries again.
   */
  private async stopOutdated(
    session: KubernetesSession,
    { instanceId }: InstanceSpec,
    { outdated, own }: InstanceView,
  ): Promise<void> {
    const isReplaced =
      this.config.on_drift === 'replace' &&
      own &&
      isSpecChanged(own.unit, session.watch.createdSpecOf(instanceId, own.unit));
    const units: Unit[] = [...outdated, ...(isReplaced ? [own.unit] : [])];
    for (const unit of units) {
      try {
        await stopUnit(session, unit);
      } catch (error) {
        session.health.note(error);
      }
    }
  }

  private async repair(session: KubernetesSession, spec: InstanceSpec, { own }: InstanceView): Promise<void> {
    if (!own) return;
    try {
      await repairUnit(session, spec.instanceId, own.unit, unitLabels(spec, this.config, session.writer));
      await repairGroup(session, own, this.options.groups?.lateMs);
    } catch (error) {
      session.health.note(error);
    }
  }

  private loggedPodOf({ watch }: KubernetesSession, instanceId: string): LoggedPod | undefined {
    const { pods } = watch.of(instanceId);
    const newest = Math.max(...pods.map(generationIn));
    const pod = podOf(pods.filter((one) => generationIn(one) === newest));
    return pod && loggedPod(pod);
  }

  /**
   * Watches the namespaces in which generations of the instance were made, also if the file no longer names them.
   * @throws Error if they are in another cluster, where this driver sees nothing
   */
  private followMade({ api, former }: KubernetesSession, instanceId: string, madeAt: readonly UnitLocation[] = []) {
    const problem = otherCluster(api, madeAt);
    if (problem !== undefined) throw new Error(`target "${this.name}": ${problem}`);
    former.use(instanceId, namespacesMade(madeAt));
  }

  /** The namespace in which the newest generation of an instance was made, or in which its first one would be. */
  private namespaceOf({ madeAt = [], tenantName }: InstanceSpec): string {
    return namespacesMade(madeAt).at(-1) ?? namespaceFor(this.config, tenantName);
  }

  /**
   * The namespaces in which to search for an instance: its own, those where it was made or seen, and others that are
   * known. Without a spec, and if it was never seen, all namespaces.
   */
  private searched(
    { watch }: KubernetesSession,
    instanceId: string,
    madeAt: readonly UnitLocation[] = [],
    spec?: InstanceSpec,
  ): string[] {
    const made = namespacesMade(madeAt);
    const all = [...new Set([...namespacesOf(this.config), ...watch.namespaces, ...made])];
    const seen = namespacesIn(watch.of(instanceId));
    if (!spec && seen.length === 0) return all;
    const others = all.length <= MOST_SEARCHED ? watch.knownNamespaces : [];
    return [...new Set([...seen, ...made, ...(spec ? [namespaceFor(this.config, spec.tenantName)] : []), ...others])];
  }

  private secretsOf(instanceId: string): string[] {
    const key = this.keys.get(instanceId);
    return key === undefined ? [] : [key];
  }

  /** Checks the health of the target at once after a failure. */
  private async noting<T>({ health }: KubernetesSession, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      health.note(error);
      throw error;
    }
  }
}

/** Whether a pod of the generation runs although the watch does not show its unit. */
function isWithoutUnit({ generation }: InstanceSpec, { own }: InstanceView, { pods }: InstanceObjects): boolean {
  return !own && pods.some((pod) => generationIn(pod) === generation && !isLeaving(pod) && !isOver(pod));
}

/** Gives a unit its labels again, and records what it was created as once its spec was changed. */
async function repairUnit(
  { live, watch }: KubernetesSession,
  instanceId: string,
  unit: Unit,
  labels: Record<string, string>,
): Promise<void> {
  const { generation = 1, annotations } = unit.metadata;
  const createdSpec = watch.createdSpecOf(instanceId, unit);
  // An edited annotation of a Deployment makes a generation too.
  const isToRecord = generation > 1 && !isStopped(unit) && annotations?.[CREATED_SPEC] === undefined;
  const recorded =
    isToRecord && createdSpec !== undefined ? await live.recordCreatedSpec(unit, createdSpec) : undefined;
  const restored = hasLabels(unit, labels) ? undefined : await live.restoreLabels(unit, labels);
  for (const written of [recorded, restored]) if (written) watch.remember(written);
}

/** The revision of the generation's unit, as in its labels. */
function revisionsOf({ own }: InstanceView): string[] {
  const revision = own?.unit.metadata.labels?.[LABEL.revision];
  return revision === undefined ? [] : [revision];
}

function withRefused(seen: Observation, refused: string | undefined): Observation {
  if (refused === undefined) return seen;
  return { ...seen, message: seen.message === undefined ? refused : `${seen.message}; ${refused}` };
}

/**
 * Repairs states that the controller of groups leaves broken. The controller restarts a group if it sees that a pod was
 * deleted, but misses this if another pod already has the name. It also waits without end for pods that a lost node
 * cannot end. Each deletion names the pod's uid, so it happens once.
 */
async function repairGroup(
  { api, live }: { api: Pick<KubeApi, 'delete'>; live: Pick<LiveUnits, 'isAbandoned'> },
  { unit, pods }: { unit: Unit; pods: readonly Pod[] },
  lateMs?: number,
): Promise<void> {
  if (sizeOf(unit) === 1) return;
  const remove = ({ metadata: { name, namespace = '', uid } }: Pod, how: { graceSeconds?: number; isLast?: boolean }) =>
    api.delete(PODS, namespace, name, { uid, ...how });
  for (const pod of pods) if (live.isAbandoned(pod)) await remove(pod, { graceSeconds: 0 });
  const leader = podOf(pods);
  if (isStopped(unit) || !leader || isLeaving(leader)) return;
  // After its workers, like the controller: the next leader must not meet the workers of the last one.
  if (pods.some((pod) => isWorker(pod) && !isLeaving(pod) && isLate(pod, leader, lateMs)))
    await remove(leader, { isLast: true });
}
