import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { startStubApi, type StubApi } from '../../test/stub-api/index.js';
import { PODS } from './kinds.js';
import type { Pod } from './objects.js';
import { Reflector } from './reflector.js';
import { KubeApi } from './requests.js';

const NS = 'models';
/** In a row. Together they take longer than the first pauses between two tries in this test. */
const STABLE_LOOKS = 20;
const RUNS = 40;

type Step =
  | { do: 'put' | 'remove' | 'write' | 'leave' | 'replay'; pod: number }
  | { do: 'cut' | 'end' | 'freeze' | 'gone' | 'compact' | 'compactInWatch' | 'bookmark' | 'wipe' | 'garbage' | 'wait' };

const pods = fc.integer({ min: 0, max: 5 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constantFrom('put', 'remove', 'write', 'leave', 'replay'), pod: pods }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('cut', 'end', 'freeze', 'gone', 'compact', 'compactInWatch', 'bookmark', 'garbage', 'wait'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wipe' as const) }) },
) as fc.Arbitrary<Step>;

it('after any sequence of faults the cache equals the server, and listeners have received exactly that', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
      const run = new Run(await startStubApi());
      try {
        await run.steps(steps);
        await run.settles();
      } finally {
        await run.close();
      }
    }),
    { numRuns: RUNS, interruptAfterTimeLimit: 20_000, markInterruptAsFailure: false },
  );
});

class Run {
  private readonly api: KubeApi;
  private readonly reflector: Reflector<Pod>;
  /** The objects that exist by the changes that a listener received. */
  private readonly told = new Map<string, string>();
  private readonly past: Pod[] = [];
  private count = 0;

  constructor(private readonly stub: StubApi) {
    this.api = new KubeApi(stub.cluster(), { callTimeoutMs: 1_000, shorterPauses: 50 });
    this.reflector = new Reflector<Pod>(this.api, {
      kind: PODS,
      namespace: NS,
      labelSelector: 'ours=yes',
      onChange: (before, after) => {
        const uid = (after ?? before)?.metadata.uid ?? '';
        // A change has a previous state if and only if the object was reported before.
        if (this.told.has(uid) !== (before !== undefined)) throw new Error(`${uid} came or went twice`);
        if (after) this.told.set(uid, phaseOf(after));
        else this.told.delete(uid);
      },
      onTrouble: (error) => {
        if (String(error).includes('twice')) this.broken = error;
      },
      clock: { shorterRetries: 100, silenceMs: 60, shortestWatchMs: 2 },
    });
    this.reflector.start();
  }

  private broken?: unknown;

  async steps(steps: readonly Step[]): Promise<void> {
    for (const one of steps) {
      await this.step(one);
      if (this.count % 3 === 0) await pause(1);
    }
  }

  async settles(): Promise<void> {
    // A busy machine may be silent for longer than the reflector tolerates, which then connects again.
    const end = Date.now() + 30_000;
    // Bytes in transit may still revert the equal state.
    for (let looks = 0; looks < STABLE_LOOKS; await pause(5)) {
      looks = this.isSame() ? looks + 1 : 0;
      if (Date.now() > end) expect(this.seen()).toEqual(this.there());
    }
    expect(Object.fromEntries(this.told)).toEqual(this.there());
    expect(this.broken).toBeUndefined();
  }

  async close(): Promise<void> {
    await this.reflector.close();
    await this.api.close();
    await this.stub.close();
  }

  private isSame = (): boolean =>
    this.reflector.isSynced && JSON.stringify(this.seen()) === JSON.stringify(this.there());

  private seen(): Record<string, string> {
    return byUid(this.reflector.values());
  }

  private there(): Record<string, string> {
    const all = this.stub.store.list<Pod>(PODS, NS);
    return byUid(all.filter(({ metadata }) => metadata.labels?.ours === 'yes'));
  }

  private async step(one: Step): Promise<void> {
    const { stub } = this;
    this.count += 1;
    switch (one.do) {
      case 'put':
        this.past.push(stub.store.put<Pod>(PODS, this.pod(one.pod)));
        return;
      case 'remove':
        return stub.store.remove(PODS, NS, `p${one.pod}`);
      case 'leave':
        stub.store.put<Pod>(PODS, { ...this.pod(one.pod), metadata: { name: `p${one.pod}`, namespace: NS } });
        return;
      case 'write':
        // Like the driver: remembers the server's answer, perhaps after the watch has reported it.
        await this.api
          .create<Pod>(PODS, NS, this.pod(one.pod))
          .then((made) => this.reflector.remember(made))
          .catch(() => undefined);
        return;
      case 'replay': {
        const old = this.past[one.pod];
        if (old) stub.replay(PODS, one.pod % 2 === 0 ? 'ADDED' : 'DELETED', old);
        return;
      }
      case 'cut':
        return stub.cutWatches();
      case 'end':
        return stub.endWatches();
      case 'freeze':
        return stub.freezeWatches();
      case 'gone':
        return stub.failWatches();
      case 'compact':
        return stub.compact('status');
      case 'compactInWatch':
        return stub.compact('event');
      case 'bookmark':
        return stub.bookmark();
      case 'garbage':
        return stub.inject('{"type":\n');
      case 'wipe':
        // A replay after this would send objects of another cluster.
        this.past.splice(0);
        return stub.wipe();
      case 'wait':
        return pause(15);
    }
  }

  private pod(n: number): Pod {
    return {
      metadata: { name: `p${n}`, namespace: NS, labels: { ours: 'yes' } },
      status: { phase: `phase ${this.count}` },
    };
  }
}

const phaseOf = ({ metadata, status }: Pod): string => `${metadata.name} ${status?.phase}`;

const byUid = (objects: Iterable<Pod>): Record<string, string> =>
  Object.fromEntries([...objects].map((pod) => [pod.metadata.uid ?? '', phaseOf(pod)] as const).sort());

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
