import { EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ObservationReason } from '@slipway/contracts';
import { Agent } from 'undici';
import {
  assertSpec,
  type EngineTraits,
  type InstanceRef,
  type InstanceSpec,
  type Observation,
  type InstanceSpecIssue,
  type TargetDriver,
  type TargetHealth,
} from './driver.js';
import type { CallableServer } from './engine-call.js';
import { probeHealth } from './health.js';
import type { LogLine, LogOptions } from './logs.js';

/** Enough for every kind of request. */
const ANSWER = '{"choices":[]}';

/** One run of a server. */
interface Life {
  number: number;
  baseUrl: string;
  server: Server;
}

/** One generation of an instance. */
interface Member {
  spec: InstanceSpec;
  node: string;
  life?: Life;
  restarts: number;
  wasReady: boolean;
  lastExit?: Observation['lastExit'];
  isTerminated: boolean;
  drift?: string;
}

/**
 * For tests: a cluster that restarts its servers and probes them by itself, as Kubernetes does. The servers are real
 * and run in this process. All drivers of one cluster see the same.
 */
export class TwinCluster {
  /** By instance, oldest generation first. */
  readonly members = new Map<string, Member[]>();
  readonly started: string[] = [];
  isHealthy = false;
  /** Whether its engine refuses requests without a key. */
  isKeyed = false;
  /** How its engines receive secrets. */
  secrets: TargetDriver['secrets'] = 'both';
  /** The known health of the cluster itself. */
  health: TargetHealth = { state: 'ok' };
  /**
   * Why its server refuses requests or does not answer. The cluster continues to run, and listeners are not notified.
   */
  outage?: string;
  /** Why it refuses each start, with words that a tenant may read. */
  refusal?: { reason: ObservationReason; message: string };
  /** Its message about each ready instance. */
  remark?: string;
  /** Output of the instances, oldest first. */
  readonly output = new Map<string, LogLine[]>();
  readonly written = new EventEmitter().setMaxListeners(0);
  private lives = 0;
  private listeners: ((instanceId: string) => void)[] = [];

  listen(listener: (instanceId: string) => void): void {
    this.listeners.push(listener);
  }

  setHealthy(isHealthy: boolean): void {
    this.isHealthy = isHealthy;
    for (const id of this.members.keys()) this.tell(id);
  }

  write(instanceId: string, line: LogLine): void {
    this.output.set(instanceId, [...(this.output.get(instanceId) ?? []), line]);
    this.written.emit('line');
  }

  create(spec: InstanceSpec): void {
    const member: Member = { spec, node: 'node-1', restarts: 0, wasReady: false, isTerminated: false };
    this.members.set(spec.instanceId, [...(this.members.get(spec.instanceId) ?? []), member]);
    void this.start(member);
  }

  /** The server dies, and the cluster starts it again on the same node. */
  async crash(incarnation: string): Promise<void> {
    const startAgain = await this.down(incarnation);
    await startAgain();
  }

  /** The node disappears, and the cluster starts the server elsewhere. */
  async move(incarnation: string, node: string): Promise<void> {
    const startAgain = await this.down(incarnation, 'evicted', node);
    await startAgain();
  }

  /**
   * The server dies. The cluster delays its next start, as it does after many, until the caller calls the returned
   * function.
   */
  async down(incarnation: string, reason: ObservationReason = 'killed', node?: string): Promise<() => Promise<void>> {
    const member = [...this.members.values()].flat().find(({ life }) => String(life?.number) === incarnation);
    if (!member) throw new Error(`nothing runs as ${incarnation}`);
    await this.end(member);
    member.lastExit = { code: null, reason };
    member.restarts += 1;
    member.node = node ?? member.node;
    member.wasReady = false;
    this.tell(member.spec.instanceId);
    return () => this.start(member);
  }

  /** A client changes by hand the objects of the instance. */
  change(instanceId: string, drift: string): void {
    const member = this.members.get(instanceId)?.at(-1);
    if (member) member.drift = drift;
    this.tell(instanceId);
  }

  stop(member: Member): void {
    member.isTerminated = true;
    const { life } = member;
    if (!life) return;
    // A stop takes some time.
    setImmediate(() => void this.end(member).then(() => this.tell(member.spec.instanceId)));
  }

  /** A client deletes the server, and all that the cluster knows of it. */
  async remove(instanceId: string): Promise<void> {
    const members = this.members.get(instanceId) ?? [];
    this.members.delete(instanceId);
    for (const member of members) {
      member.isTerminated = true;
      await this.end(member);
    }
    this.tell(instanceId);
  }

  async dispose(): Promise<void> {
    this.listeners = [];
    for (const members of this.members.values())
      for (const member of members) {
        member.isTerminated = true;
        await this.end(member);
      }
  }

  private async start(member: Member): Promise<void> {
    const server = createServer(
      (_request, response) => void response.writeHead(this.isHealthy ? 200 : 503).end(ANSWER),
    );
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    member.life = { number: (this.lives += 1), baseUrl, server };
    if (member.isTerminated) return this.end(member);
    this.started.push(member.spec.instanceId);
    this.tell(member.spec.instanceId);
  }

  private async end(member: Member): Promise<void> {
    const { life } = member;
    member.life = undefined;
    life?.server.closeAllConnections();
    await new Promise((done) => (life ? life.server.close(done) : done(undefined)));
  }

  private tell(instanceId: string): void {
    if (this.outage !== undefined) return;
    for (const listener of this.listeners) listener(instanceId);
  }
}

/** The driver of a `TwinCluster`. The target restarts and probes, and the driver reports changes. */
export class TwinDriver implements TargetDriver {
  readonly kind = 'twin';
  readonly adopts = false;
  readonly restarts = 'target';
  readonly probes = 'target';
  readonly outlivesHost = true;
  private readonly agent = new Agent({ pipelining: 0 });

  constructor(
    readonly name: string,
    private readonly cluster: TwinCluster,
  ) {}

  get secrets(): TargetDriver['secrets'] {
    return this.cluster.secrets;
  }

  reconfigure(): () => void {
    return () => undefined;
  }

  engines() {
    return [{ name: 'sim', args: [], env: [] }];
  }

  check(spec: InstanceSpec): InstanceSpecIssue[] {
    const issues: InstanceSpecIssue[] = [];
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(spec.instanceId))
      issues.push({ field: 'instance_id', code: 'invalid_value', message: 'must match [A-Za-z0-9_-]{1,128}' });
    for (const name of Object.keys(spec.runtime.args))
      issues.push({ field: `runtime.args.${name}`, code: 'not_declared', message: 'the engine has no such argument' });
    if (spec.runtime.engine !== 'sim')
      issues.push({ field: 'runtime.engine', code: 'unknown', message: 'the only engine is sim' });
    return issues;
  }

  async provision(spec: InstanceSpec): Promise<void> {
    assertSpec(this, spec);
    this.assertThere();
    const members = this.membersOf(spec.instanceId);
    if (members.some((member) => member.spec.generation >= spec.generation)) return;
    for (const member of members) if (!member.isTerminated) this.cluster.stop(member);
    if (members.some(({ life }) => life)) return;
    const { refusal } = this.cluster;
    if (refusal) throw Object.assign(new Error(refusal.message), { reason: refusal.reason, shown: refusal.message });
    this.cluster.create(spec);
  }

  async observe({ instanceId, generation }: InstanceSpec): Promise<Observation> {
    this.assertThere();
    const members = this.membersOf(instanceId);
    const newest = members.at(-1);
    if (!newest) return { state: 'absent' };
    const seen = newest.spec.generation;
    if (seen > generation) return { state: 'exited', reason: 'replaced', generation: seen };
    if (seen < generation) {
      const older = members.find(({ life }) => life);
      if (!older) return { state: 'absent' };
      return { state: older.isTerminated ? 'stopping' : 'absent', generation: older.spec.generation };
    }
    const { life, lastExit, node, restarts } = newest;
    const { drift } = newest;
    const common = { generation, place: node, restarts, ...(lastExit && { lastExit }), ...(drift && { drift }) };
    if (newest.isTerminated)
      return { ...common, state: life ? 'stopping' : 'exited', reason: 'terminated', ...shown(life) };
    if (!life) return { ...common, state: 'starting', reason: lastExit?.reason ?? 'loading' };
    if (this.cluster.isHealthy) newest.wasReady = true;
    const { remark: message } = this.cluster;
    if (this.cluster.isHealthy) return { ...common, state: 'ready', ...shown(life), ...(message && { message }) };
    if (newest.wasReady) return { ...common, state: 'unhealthy', reason: 'probe_failed', ...shown(life) };
    return { ...common, state: 'starting', reason: 'loading', ...shown(life) };
  }

  async answers({ probe }: InstanceSpec, baseUrl: string): Promise<boolean> {
    const url = `${baseUrl}${probe.path ?? '/health'}`;
    return (await probeHealth({ url, timeoutSeconds: probe.timeoutSeconds, dispatcher: this.agent })).isHealthy;
  }

  callable({ model, instanceKey: credential }: InstanceSpec, baseUrl: string): CallableServer {
    return { baseUrl, model: model.id, credential, dispatcher: this.agent };
  }

  async terminate(instanceId: string): Promise<'stopping' | 'gone'> {
    this.assertThere();
    const members = this.membersOf(instanceId);
    for (const member of members) if (!member.isTerminated) this.cluster.stop(member);
    return members.some(({ life }) => life) ? 'stopping' : 'gone';
  }

  async list(): Promise<InstanceRef[]> {
    this.assertThere();
    return [...this.cluster.members].flatMap(([instanceId, members]) => {
      const member = members.find((one) => one.life || !one.isTerminated);
      if (!member) return [];
      return [{ instanceId, generation: member.spec.generation, ...pick(shown(member.life)) }];
    });
  }

  health(): TargetHealth {
    const { outage, health } = this.cluster;
    return outage === undefined ? health : { state: 'degraded', message: outage };
  }

  onChange(listener: (instanceId: string) => void): void {
    this.cluster.listen(listener);
  }

  traits(spec: InstanceSpec): EngineTraits | undefined {
    if (spec.runtime.engine !== 'sim') return undefined;
    const { isKeyed } = this.cluster;
    return {
      serves: ['chat'],
      unknownModel: 'rejects',
      identity: ['models_list'],
      hasCacheSalt: false,
      readyTimeoutSeconds: 60,
      isKeyed,
      drain: 'engine',
    };
  }

  async *logs(instanceId: string, { tail, stream, follow, signal }: LogOptions): AsyncIterable<LogLine> {
    const isAsked = (line: LogLine) => stream === 'both' || line.stream === stream;
    const all = () => this.cluster.output.get(instanceId) ?? [];
    let told = all().length;
    yield* all().filter(isAsked).slice(-tail);
    while (follow && !signal.aborted) {
      const fresh = all().slice(told);
      told += fresh.length;
      yield* fresh.filter(isAsked);
      if (fresh.length === 0) await once(this.cluster.written, 'line', { signal }).catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }

  private assertThere(): void {
    if (this.cluster.outage !== undefined) throw new Error(this.cluster.outage);
  }

  private membersOf(instanceId: string): Member[] {
    return this.cluster.members.get(instanceId) ?? [];
  }
}

function shown(life: Life | undefined): Pick<Observation, 'baseUrl' | 'incarnation'> {
  return life ? { baseUrl: life.baseUrl, incarnation: String(life.number) } : {};
}

function pick({ incarnation }: Pick<Observation, 'incarnation'>): Pick<InstanceRef, 'incarnation'> {
  return incarnation === undefined ? {} : { incarnation };
}
