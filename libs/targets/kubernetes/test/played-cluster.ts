import { createServer, type Server } from 'node:http';
import { PODS, SECRETS } from '../src/api/kinds.js';
import type { Condition, ContainerState, Deployment, KubeObject, Pod, PodStatus } from '../src/api/objects.js';
import { startStubApi, type Change, type StubApi } from './stub-api/index.js';

/** Times of the API have whole seconds. */
const now = () => new Date().toISOString().replace(/\.\d+Z$/, 'Z');
const LOOK_MS = 15;
const BACK_OFF_MS = 60;
const STOP_MS = 30;

/** One pod and its server. */
interface PlayedPod {
  unit: string;
  name: string;
  namespace: string;
  instance: string;
  ip: string;
  server?: Server;
  restarts: number;
  startedAt?: string;
  lastState?: ContainerState;
  wasReady: boolean;
  isEnding: boolean;
  /** A fixed state instead of a server. */
  fixed?: PodStatus;
}

/**
 * A stub API server with simulated controllers and a simulated kubelet. The pods of its Deployments are real HTTP
 * servers on loopback addresses, probed and restarted as by a kubelet, but faster.
 */
export class PlayedCluster {
  api!: StubApi;
  isHealthy = false;
  /** Number of started servers, by instance. */
  readonly started = new Map<string, number>();
  /** Output of a pod's engine, by pod. */
  readonly output = new Map<string, string[]>();
  /** The state of each new pod, instead of a server. */
  fixed?: PodStatus;
  /** The condition of the unit if no pod can be created. */
  refusal?: string;
  /** Deleted pods remain, as on a lost node. */
  isNodeSilent = false;
  /** Deleted pods do not end until this resolves. */
  mayEnd: Promise<void> = Promise.resolve();
  private readonly pods = new Map<string, PlayedPod>();
  private readonly units = new Map<string, Deployment>();
  private readonly timer: NodeJS.Timeout;
  private made = 0;
  private isClosed = false;

  /** @param addresses keeps the second octet of its pods for itself: other processes run clusters at the same time */
  private constructor(
    private readonly addresses: Server,
    private readonly octet: number,
  ) {
    this.timer = setInterval(() => this.look(), LOOK_MS);
  }

  static async create(): Promise<PlayedCluster> {
    const cluster = new PlayedCluster(...(await claimAddresses()));
    cluster.api = await startStubApi({
      onUnit: (unit, change) => cluster.onUnit(unit as Deployment, change),
      onPodDeletion: (pod) => cluster.onPodDeletion(pod),
      log: (pod, query) => cluster.log(pod, query),
    });
    return cluster;
  }

  podsOf(instanceId: string): Pod[] {
    return this.api.store
      .list<Pod>(PODS)
      .filter(({ metadata }) => metadata.labels?.['slipway.dev/instance'] === instanceId);
  }

  /** The engine of a pod ends, and its kubelet starts it again. */
  async crash(podUid: string, ended: ContainerState['terminated'] = { exitCode: 1, reason: 'Error' }): Promise<void> {
    const pod = this.pods.get(podUid);
    if (!pod?.server) throw new Error(`no server runs in pod ${podUid}`);
    await this.end(pod);
    pod.lastState = { terminated: { ...ended, startedAt: pod.startedAt, finishedAt: now() } };
    pod.wasReady = false;
    this.write(
      pod,
      { waiting: { reason: 'CrashLoopBackOff', message: 'back-off restarting failed container' } },
      false,
    );
    setTimeout(() => {
      pod.restarts += 1;
      void this.start(pod);
    }, BACK_OFF_MS).unref();
  }

  /** Removes a pod like the Eviction API, and not like its unit: condition and deletion in one. */
  evict(pod: Pod, reason = 'EvictionByEvictionAPI'): void {
    const { name, namespace = '' } = pod.metadata;
    const left = this.api.store.change<Pod>(PODS, namespace, name, (one) => {
      const condition = { type: 'DisruptionTarget', status: 'True', reason, message: `Eviction API: evicting` };
      one.status = { ...one.status, conditions: [...(one.status?.conditions ?? []), condition] };
      one.metadata.deletionTimestamp = new Date(Date.now() + 1_000).toISOString();
      one.metadata.deletionGracePeriodSeconds = 1;
    });
    this.onPodDeletion(left);
  }

  /** A client takes a label of the pod's selector away: its controller releases it and creates another one. */
  release({ metadata: { name, namespace = '', uid = '' } }: Pod, label: string): void {
    const played = this.pods.get(uid)!;
    this.api.store.change<Pod>(
      PODS,
      namespace,
      name,
      ({ metadata }) => void delete metadata.labels![label],
      'kubectl-label',
    );
    const unit = this.units.get(played.unit);
    played.unit = '';
    if (unit) this.meet(unit);
  }

  /** Checks every unit again, as after a quota was raised. */
  reconcile(): void {
    for (const unit of this.units.values()) this.meet(unit);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.timer);
    await Promise.all([...this.pods.values()].map((pod) => this.end(pod)));
    await this.api.close();
    await new Promise((done) => this.addresses.close(done));
  }

  private onUnit(unit: Deployment, change: Change): void {
    const uid = unit.metadata.uid ?? '';
    if (change === 'deleted') this.units.delete(uid);
    else this.units.set(uid, unit);
    // A controller notices a write after it.
    setTimeout(
      () => this.meet(change === 'deleted' ? { ...unit, spec: { ...unit.spec, replicas: 0 } } : unit),
      1,
    ).unref();
  }

  private onPodDeletion({ metadata: { uid = '' } }: KubeObject): void {
    const pod = this.pods.get(uid);
    if (!pod || pod.isEnding) return;
    pod.isEnding = true;
    const unit = this.units.get(pod.unit);
    // A ReplicaSet does not wait for the end of a deleted pod.
    if (unit) this.meet(unit);
    if (this.isNodeSilent) return;
    setTimeout(() => {
      void this.mayEnd
        .then(() => this.end(pod))
        .then(() => {
          this.pods.delete(uid);
          this.api.store.remove(PODS, pod.namespace, pod.name);
        });
    }, STOP_MS).unref();
  }

  private meet(unit: Deployment): void {
    if (this.isClosed) return;
    const { uid = '' } = unit.metadata;
    const own = [...this.pods.values()].filter((pod) => pod.unit === uid && !pod.isEnding);
    const wanted = unit.spec?.replicas ?? 1;
    for (const pod of own.slice(wanted)) this.delete(pod);
    if (own.length >= wanted) return;
    if (this.refusal !== undefined) return this.refuse(unit, this.refusal);
    for (let index = own.length; index < wanted; index += 1) this.make(unit);
  }

  private refuse(unit: Deployment, message: string): void {
    const { name, namespace = '' } = unit.metadata;
    const condition = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message };
    if (JSON.stringify(unit.status?.conditions) === JSON.stringify([condition])) return;
    this.api.store.change<Deployment>(
      { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment' },
      namespace,
      name,
      (one) => {
        one.status = { ...one.status, conditions: [condition] };
      },
    );
  }

  private delete(pod: PlayedPod): void {
    const { deletionTimestamp } = this.api.store.get<Pod>(PODS, pod.namespace, pod.name)?.metadata ?? {};
    if (deletionTimestamp) return;
    const left = this.api.store.change<Pod>(PODS, pod.namespace, pod.name, ({ metadata }) => {
      metadata.deletionTimestamp = new Date(Date.now() + 1_000).toISOString();
      metadata.deletionGracePeriodSeconds = 1;
    });
    this.onPodDeletion(left);
  }

  private make(unit: Deployment): void {
    this.made += 1;
    const { name, namespace = '', uid = '' } = unit.metadata;
    const template = unit.spec!.template!;
    const metadata = { ...template.metadata, name: `${name}-${this.made}`, generateName: `${name}-`, namespace };
    const spec = { ...template.spec, nodeName: 'node-1' };
    const created = this.api.store.put<Pod>(PODS, { metadata, spec, status: this.fixed ?? { phase: 'Pending' } });
    const pod: PlayedPod = {
      unit: uid,
      name: metadata.name,
      namespace,
      instance: metadata.labels?.['slipway.dev/instance'] ?? '',
      ip: `127.${this.octet}.${this.made >> 8}.${this.made & 255}`,
      restarts: 0,
      wasReady: false,
      isEnding: false,
      ...(this.fixed && { fixed: this.fixed }),
    };
    this.pods.set(created.metadata.uid!, pod);
    if (!pod.fixed) void this.start(pod);
  }

  private async start(pod: PlayedPod): Promise<void> {
    if (pod.isEnding || this.isClosed) return;
    const object = this.api.store.get<Pod>(PODS, pod.namespace, pod.name);
    const container = object?.spec?.containers.find(({ name }) => name === 'engine');
    const missing = (container?.env ?? []).map(
      ({ valueFrom }) => (valueFrom as any)?.secretKeyRef?.name as string | undefined,
    );
    const absent = missing.find((name) => name !== undefined && !this.api.store.get(SECRETS, pod.namespace, name));
    if (absent !== undefined) {
      const message = `secret "${absent}" not found`;
      this.write(pod, { waiting: { reason: 'CreateContainerConfigError', message } }, false);
      setTimeout(() => void this.start(pod), BACK_OFF_MS).unref();
      return;
    }
    const port = container?.ports?.[0]?.containerPort ?? 0;
    const server = createServer(({ url }, response) => {
      const body = url === '/metrics' ? 'sim_waiting 3\n' : '{}';
      response.writeHead(this.isHealthy ? 200 : 503).end(body);
    });
    await new Promise<void>((done, fail) => server.once('error', fail).listen(port, pod.ip, done));
    pod.server = server;
    pod.startedAt = now();
    this.started.set(pod.instance, (this.started.get(pod.instance) ?? 0) + 1);
    if (pod.isEnding) return this.end(pod);
    this.write(pod, { running: { startedAt: pod.startedAt } }, false);
  }

  private look(): void {
    for (const pod of this.pods.values()) {
      if (!pod.server || pod.isEnding) continue;
      if (this.isHealthy) pod.wasReady = true;
      this.write(pod, { running: { startedAt: pod.startedAt } }, this.isHealthy);
    }
  }

  private write(pod: PlayedPod, state: ContainerState, isReady: boolean): void {
    const known = this.api.store.get<Pod>(PODS, pod.namespace, pod.name);
    if (!known) return;
    const condition = (type: string, isTrue: boolean): Condition => {
      const status = isTrue ? 'True' : 'False';
      const before = known.status?.conditions?.find((one) => one.type === type);
      return before?.status === status ? before : { type, status, lastTransitionTime: now() };
    };
    const others = (known.status?.conditions ?? []).filter(({ type }) => type === 'DisruptionTarget');
    const { restarts: restartCount, lastState = {}, wasReady } = pod;
    this.api.store.change<Pod>(PODS, pod.namespace, pod.name, (one) => {
      one.status = {
        phase: 'Running',
        podIP: pod.ip,
        conditions: [
          condition('PodScheduled', true),
          condition('Initialized', true),
          condition('ContainersReady', isReady),
          condition('Ready', isReady),
          ...others,
        ],
        containerStatuses: [{ name: 'engine', ready: isReady, started: wasReady, restartCount, state, lastState }],
      };
    });
  }

  private async end(pod: PlayedPod): Promise<void> {
    const { server } = pod;
    pod.server = undefined;
    server?.closeAllConnections();
    await new Promise((done) => (server ? server.close(done) : done(undefined)));
  }

  private *log(name: string, query: Record<string, string>): Generator<string> {
    const lines = this.output.get(query['previous'] === 'true' ? `${name}/previous` : name) ?? [];
    const since = query['sinceTime'];
    const asked = since === undefined ? lines : lines.filter((line) => line.slice(0, 19) >= since.slice(0, 19));
    for (const line of query['tailLines'] === undefined ? asked : asked.slice(-Number(query['tailLines'])))
      yield `${line}\n`;
  }
}

const OCTETS = 250;
const CLAIM_PORT = 28_733;

/** A listener on the last address that begins with `127.<octet>` claims all of them. */
async function claimAddresses(): Promise<[Server, number]> {
  const first = Math.floor(Math.random() * OCTETS);
  for (let tried = 0; tried < OCTETS; tried += 1) {
    const octet = 1 + ((first + tried) % OCTETS);
    const claim = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      claim.once('error', () => resolve(false)).listen(CLAIM_PORT, `127.${octet}.255.254`, () => resolve(true));
    });
    if (isFree) return [claim.unref(), octet];
  }
  throw new Error('other clusters have all addresses');
}
