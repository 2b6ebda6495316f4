import {
  DEPLOYMENTS,
  PODS,
  TestBed,
  type GrantedAccess,
  type KubeObject,
  type Pod,
  type TestBedOptions,
} from '@slipway/kube-testbed';
import { Load, type LoadAnswer } from '@slipway/platform-testing/load';
import { Stack, until } from '../harness/stack.js';

const PER_SECOND = 50;
/** The load before and after the work under load. */
const LOAD_AROUND_MS = 1_000;
const OPERATION_MS = 120_000;

/**
 * The product with a target of kind kubernetes, on a real control plane with simulated nodes,
 * next to the built-in target of processes.
 */
export class KubeStack {
  private number = 0;

  private constructor(
    readonly bed: TestBed,
    readonly namespace: string,
    /** A namespace that the operator's file does not name at first. */
    readonly spare: string,
    /** The access of the product. */
    readonly granted: GrantedAccess,
    readonly stack: Stack,
    /** The operator's file. */
    readonly config: string,
  ) {}

  /** @param through changes the product's address of Postgres */
  static async start(options: TestBedOptions, through?: (databaseUrl: string) => string): Promise<KubeStack> {
    const bed = await TestBed.open(options);
    try {
      const [namespace, spare] = [await bed.namespace(), await bed.namespace()];
      const granted = await bed.grant([namespace, spare]);
      const config = configOf(granted.kubeconfig, namespace);
      const stack = await Stack.start({ gateway: true, config: () => config, ...(through && { through }) });
      return new KubeStack(bed, namespace, spare, granted, stack, config);
    } catch (error) {
      await bed.close();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.stack.stop();
    await this.bed.close();
  }

  async deployment(): Promise<string> {
    const name = `kube-${++this.number}`;
    await this.stack.slipway().deployments.create({ name });
    return name;
  }

  /** @returns the operation */
  begin(name: string, body: object): Promise<string> {
    return this.stack.rollOut(name, body);
  }

  /** @returns the revision that then has the traffic, according to the gateway */
  async rolledOut(name: string, spec: object): Promise<string> {
    const id = await this.begin(name, { spec, strategy: { type: 'immediate' } });
    const { status, message, result } = await this.stack.operation(id, undefined, OPERATION_MS);
    if (status !== 'succeeded') throw new Error(`the rollout of ${name} has ${status}: ${message}`);
    await this.serves(name, result.revision);
    return result.revision;
  }

  /** Makes a deployment with this many instances, ready in as many pods. */
  async serving(replicas: number, on: KubeStackTarget = 'cluster', runtime: object = {}): Promise<string> {
    const name = await this.deployment();
    await this.rolledOut(name, specOn(on, 'm', { scaling: exactly(replicas) }, runtime));
    return name;
  }

  serves(name: string, revision: string): Promise<void> {
    const isServed = async () => (await this.chat(name)).revision === revision;
    return until(`the gateway serves ${revision}`, isServed, 10_000);
  }

  async chat(model: string): Promise<{ status: number; revision: string | null }> {
    const answer = await fetch(`${this.stack.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.stack.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
    });
    await answer.text();
    return { status: answer.status, revision: answer.headers.get('x-slipway-revision') };
  }

  async instancesOf(name: string): Promise<any[]> {
    return (await this.stack.slipway().deployments.instances.list(name)).data;
  }

  async eventsOf(name: string): Promise<string[]> {
    const { data } = await this.stack.slipway().deployments.events.list(name, { order: 'asc', limit: 200 });
    return data.map(({ type }) => type);
  }

  podsOf(instances: readonly InstanceReference[]): Promise<Pod[]> {
    return this.bed.pods(this.namespace, ofAny(instances));
  }

  /** Returns the units of instances, stopped or not, by name. */
  async unitsOf(instances: readonly InstanceReference[]): Promise<Unit[]> {
    const options = { namespace: this.namespace, labelSelector: ofAny(instances) };
    const { items } = await this.bed.client.list<Unit>(DEPLOYMENTS, options);
    return items.sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
  }

  /** Returns when the API server first reports, from now on, a pod that `is` accepts. */
  async saidOf(pod: Pod, is: (pod: Pod) => boolean): Promise<number> {
    const { namespace, name } = pod.metadata;
    const options = { namespace, fieldSelector: `metadata.name=${name}` };
    const { resourceVersion } = await this.bed.client.list(PODS, options);
    const signal = AbortSignal.timeout(OPERATION_MS);
    for await (const { object } of this.bed.client.watch<Pod>(PODS, { ...options, resourceVersion, signal }))
      if (is(object)) return Date.now();
    throw new Error(`nothing more is heard of pod ${name}`);
  }

  /** Returns the Postgres process of the worker that leads a target; undefined if none leads. */
  async leader(target: KubeStackTarget = 'cluster'): Promise<number | undefined> {
    const [row] = await this.stack.query<{ pid: number }>(
      `select pid from pg_locks join pg_stat_activity using (pid)
       where locktype = 'advisory' and granted and application_name = 'slipway-target' and datname = current_database()
         and (classid::bigint << 32 | objid::bigint) = hashtextextended('slipway-target/' || $1, 0)`,
      [target],
    );
    return row?.pid;
  }

  /** Returns when an event of a deployment was last published; undefined if it never was. */
  async toldAt(name: string, event: string): Promise<number | undefined> {
    const { data } = await this.stack.slipway().deployments.events.list(name, { order: 'desc', limit: 200 });
    const found = data.find(({ type }) => type === event);
    return found && Date.parse(found.time);
  }

  /** Returns a revision's metric at the gateway; 0 if the gateway does not count it yet. */
  async counted(metric: string, revision: string, labels = ''): Promise<number> {
    const headers = { authorization: `Bearer ${this.stack.token}` };
    const text = await (await fetch(`${this.stack.gatewayUrl}/metrics`, { headers })).text();
    const line = new RegExp(`^slipway_gateway_${metric}\\{[^}]*revision="${revision}"${labels}\\} (\\d+)$`, 'm');
    return Number(line.exec(text)?.[1] ?? 0);
  }

  /** Returns the cluster as in `GET /targets`. */
  async target(): Promise<any> {
    const { data } = await this.stack.slipway().targets.list();
    return data.find(({ name }) => name === 'cluster');
  }

  /** Returns the answers to 50 requests per second during the work; every `streams`th is a stream. */
  async underLoad(name: string, work: () => Promise<unknown>, streams = 2): Promise<LoadAnswer[]> {
    const load = new Load(this.stack.gatewayUrl, this.stack.token, name, PER_SECOND, { streams });
    const pause = () => new Promise((resolve) => setTimeout(resolve, LOAD_AROUND_MS));
    try {
      await pause();
      await work();
      await pause();
    } finally {
      await load.stop();
    }
    if (load.answers.length < PER_SECOND) throw new Error(`there were no more than ${load.answers.length} requests`);
    return load.answers;
  }
}

/** Returns those that were not answered completely. */
export const lost = (answers: readonly LoadAnswer[]): LoadAnswer[] =>
  answers.filter(({ status, isCut }) => status !== 200 || isCut);

/** `strict` is the same cluster, configured to replace units that others have changed. */
export type KubeStackTarget = 'cluster' | 'strict' | 'local';
type InstanceReference = { id: string };
export type Unit = KubeObject & { metadata: { name: string; uid: string } };

export const specOn = (target: KubeStackTarget, model: string, change: object = {}, runtime: object = {}) => ({
  model: { id: model },
  runtime: { target, engine: 'sim', args: { ttft_ms: 10, itl_ms: 5 }, ...runtime },
  ...change,
});

export const exactly = (replicas: number) => ({ min_replicas: replicas, max_replicas: replicas });

const ofAny = (instances: readonly InstanceReference[]): string =>
  `slipway.dev/instance in (${instances.map(({ id }) => id).join()})`;

/**
 * Runs the simulator in pods. Also has one engine with a key of its own, one that fits no node, and one whose image does
 * not exist.
 */
const configOf = (kubeconfig: string, namespace: string) => `
targets:
  - name: cluster
    kind: kubernetes
    cluster: {kubeconfig: ${kubeconfig}}
    namespaces: {default: ${namespace}}
    accelerators: {gpu: {resource: nvidia.com/gpu, max_count: 64}}
    engines:
      sim: &sim
        image: test/sim
        command: [sim, --host, 0.0.0.0, --port, "{port}", --model, "{model.id}"]
        args: &args {ttft_ms: "--ttft-ms={}", itl_ms: "--itl-ms={}"}
        port: 8000
        ready: &ready {path: /health, timeout_seconds: 60}
        stop: &stop {drain: engine, drain_seconds: 60}
        allow: &allow {max_replicas: 4}
      keyed:
        image: test/sim
        command: [sim, --host, 0.0.0.0, --port, "{port}", --model, "{model.id}", --api-key, $(SIM_KEY)]
        key_env: SIM_KEY
        args: *args
        port: 8000
        ready: *ready
        stop: *stop
        allow: *allow
      large: {image: test/sim, command: [sim, --port, "{port}"], port: 8000, allow: {accelerators: [gpu], count: {max: 64}}}
      absent: {image: test/absent, command: [sim, --port, "{port}"], port: 8000}
  - name: strict
    kind: kubernetes
    cluster: {kubeconfig: ${kubeconfig}}
    namespaces: {default: ${namespace}}
    on_drift: replace
    engines: {sim: *sim}
`;
