import { TestBed, type Granted, type Pod, type TestBedOptions } from '@slipway/kube-testbed';
import { Load, type LoadAnswer } from './load.js';
import { Stack, until } from './stack.js';

const PER_SECOND = 50;
/** Before and after what is done under load. */
const LOAD_AROUND_MS = 1_000;
const OPERATION_MS = 120_000;

/** The product with a target of kind kubernetes, on a real control plane whose nodes are played, beside the built-in target of processes. */
export class KubeStack {
  private number = 0;

  private constructor(
    readonly bed: TestBed,
    readonly namespace: string,
    /** What the product is there. */
    readonly granted: Granted,
    readonly stack: Stack,
  ) {}

  static async start(options: TestBedOptions): Promise<KubeStack> {
    const bed = await TestBed.open(options);
    try {
      const namespace = await bed.namespace();
      const granted = await bed.grant([namespace]);
      const stack = await Stack.start({ gateway: true, config: () => configOf(granted.kubeconfig, namespace) });
      return new KubeStack(bed, namespace, granted, stack);
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
    const { status } = await this.stack.send('POST', '/deployments', { name });
    if (status !== 201) throw new Error(`${name} was answered with ${status}`);
    return name;
  }

  /** @returns the operation */
  async begin(name: string, body: object): Promise<string> {
    const { status, body: answer } = await this.stack.send('POST', `/deployments/${name}/rollouts`, body);
    if (status !== 202) throw new Error(`a rollout of ${name} was answered with ${status} ${JSON.stringify(answer)}`);
    return answer.operation.id as string;
  }

  /** @returns the revision that has the traffic then, as the gateway says */
  async rolledOut(name: string, spec: object): Promise<string> {
    const id = await this.begin(name, { spec, strategy: { type: 'immediate' } });
    const { status, message, result } = await this.stack.operation(id, undefined, OPERATION_MS);
    if (status !== 'succeeded') throw new Error(`the rollout of ${name} has ${status}: ${message}`);
    await this.serves(name, result.revision);
    return result.revision;
  }

  /** A deployment with as many instances, ready in as many pods. */
  async serving(replicas: number, on: 'cluster' | 'local' = 'cluster'): Promise<string> {
    const name = await this.deployment();
    const scaling = { min_replicas: replicas, max_replicas: replicas };
    await this.rolledOut(name, specOn(on, 'm', { scaling }));
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
    return (await this.stack.send('GET', `/deployments/${name}/instances`)).body.data;
  }

  async eventsOf(name: string): Promise<string[]> {
    const { body } = await this.stack.send('GET', `/deployments/${name}/events?order=asc&limit=200`);
    return body.data.map(({ type }: { type: string }) => type);
  }

  podsOf(instances: readonly { id: string }[]): Promise<Pod[]> {
    return this.bed.pods(this.namespace, `slipway.dev/instance in (${instances.map(({ id }) => id).join()})`);
  }

  /** As `GET /targets` has the cluster. */
  async target(): Promise<any> {
    const { body } = await this.stack.send('GET', '/targets');
    return body.data.find(({ name }: { name: string }) => name === 'cluster');
  }

  /** What becomes of 50 requests a second meanwhile, of which every `streams`th is a stream. */
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

/** Those that were not answered whole. */
export const lost = (answers: readonly LoadAnswer[]): LoadAnswer[] =>
  answers.filter(({ status, isCut }) => status !== 200 || isCut);

export const specOn = (target: 'cluster' | 'local', model: string, change: object = {}) => ({
  model: { id: model },
  runtime: { target, engine: 'sim', args: { ttft_ms: 10, itl_ms: 5 } },
  ...change,
});

/** The simulator in pods; one that no node has room for, and one whose image nobody has. */
const configOf = (kubeconfig: string, namespace: string) => `
targets:
  - name: cluster
    kind: kubernetes
    cluster: {kubeconfig: ${kubeconfig}}
    namespaces: {default: ${namespace}}
    accelerators: {gpu: {resource: nvidia.com/gpu, max_count: 64}}
    engines:
      sim:
        image: test/sim
        command: [sim, --host, 0.0.0.0, --port, "{port}", --model, "{model.id}"]
        args: {ttft_ms: "--ttft-ms={}", itl_ms: "--itl-ms={}"}
        port: 8000
        ready: {path: /health, timeout_seconds: 60}
        stop: {drain: engine, drain_seconds: 60}
        allow: {max_replicas: 4}
      large: {image: test/sim, command: [sim, --port, "{port}"], port: 8000, allow: {accelerators: [gpu], count: {max: 64}}}
      absent: {image: test/absent, command: [sim, --port, "{port}"], port: 8000}
`;
