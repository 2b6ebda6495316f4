import { afterEach, expect, it, jest } from '@jest/globals';
import type { ChildProcess } from 'node:child_process';
import { describeOnEachTarget } from '../harness/each-target.js';
import { isAlive, type Stack, until } from '../harness/stack.js';

jest.setTimeout(180_000);

/** Streams last longer than the 47 s after which a change of traffic used to cut them. */
const LEAST_SECONDS_AFTER_CHANGE = 47;
/** The engine itself waits for no request, so only the drain protects them. */
const ENGINE = { flags: ['--itl-ms', '500', '--tokens', '100'], isKilledSoon: true } as const;

let stack: Stack;
let leaving: ChildProcess | undefined;

const specOf = (model: string, replicas = 1) => ({
  model: { id: model },
  runtime: { target: 'local', engine: 'sim' },
  scaling: { min_replicas: replicas },
});
const IMMEDIATE = { strategy: { type: 'immediate' as const } };

interface Stream {
  /** Resolves at the first token. */
  begun: Promise<void>;
  ended: Promise<{ text: string; endedAt: number }>;
}

/** A stream of one token after the other. */
function stream(model: string, gateway = 0): Stream {
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const ended = (async () => {
    let text = '';
    try {
      const response = await fetch(`${stack.gatewayUrlOf(gateway)}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'hello' }] }),
      });
      for await (const chunk of response.body!) {
        text += Buffer.from(chunk).toString();
        if (text.includes('"content":"')) begin();
      }
    } catch (error) {
      text += `\n${String(error)}`;
    }
    begin();
    return { text, endedAt: performance.now() };
  })();
  return { begun, ended };
}

const CHANGES = 'a rollout, a rollback, a deletion, a scale-down, a restart and a rolling restart of gateways';

describeOnEachTarget('draining', (start) => {
  afterEach(async () => {
    // Its successor has its place in the stack.
    leaving?.kill('SIGKILL');
    await stack?.stop();
  });

  it(`a long stream survives ${CHANGES}`, async () => {
    stack = await start({ gateway: 2, engine: ENGINE });
    const { deployments } = stack.slipway();
    const { rollouts, rollbacks } = deployments;
    const succeeds = async ({ operation: { id } }: { operation: { id: string } }) =>
      expect(await stack.operation(id)).toMatchObject({ status: 'succeeded' });
    const rollOut = async (name: string, revision: number, replicas?: number) =>
      succeeds(await rollouts.create(name, { spec: specOf(`${name}-${revision}`, replicas), ...IMMEDIATE }));
    const engines = (model: string) => stack.simulatorStarts(model).filter(({ pid }) => isAlive(pid)).length;

    /** Begins streams, makes a change, and returns when all streams have ended without an error. */
    const survive = async (name: string, gateways: number[], change: () => Promise<unknown>) => {
      const streams = gateways.map((gateway) => stream(name, gateway));
      await Promise.all(streams.map(({ begun }) => begun));
      const changedAt = performance.now();
      await change();
      for (const { text, endedAt } of await Promise.all(streams.map(({ ended }) => ended))) {
        expect([name, text.trimEnd().split('\n').at(-1)]).toEqual([name, 'data: [DONE]']);
        expect([name, text.includes('"error"')]).toEqual([name, false]);
        expect((endedAt - changedAt) / 1_000).toBeGreaterThan(LEAST_SECONDS_AFTER_CHANGE);
      }
    };
    /** The deployment shows how many requests it waits for, and the engines stop once none is left. */
    const drains = async (name: string, revision: string, requests: number) => {
      const draining = async () => (await deployments.get(name)).draining;
      await until(`${name} drains`, async () => (await draining())?.requests === requests);
      const revisions = [{ revision, requests, until: expect.any(String) }];
      expect(await draining()).toEqual({ requests, revisions });
    };
    const stops = async (model: string, left = 0) =>
      until(
        `${model} stops`,
        async () => engines(model) === left,
        10_000,
        () => `${engines(model)} engines`,
      );

    await Promise.all([
      (async () => {
        await deployments.create({ name: 'rolled-out' });
        await rollOut('rolled-out', 1);
        let gatewayEnded: Promise<number | null> | undefined;
        await survive('rolled-out', [0, 1], async () => {
          leaving = stack.childOf('gateway', 1);
          gatewayEnded = new Promise((resolve) => leaving?.once('exit', resolve));
          leaving.kill('SIGTERM');
          const spec = specOf('rolled-out-2');
          const rollout = await rollouts.create('rolled-out', { spec, keep_previous_seconds: 0, ...IMMEDIATE });
          await drains('rolled-out', 'rolled-out-00001', 2);
          // The next gateway serves at the address while the stopping one still has its stream.
          stack.spawn('gateway', 1);
          await stack.ready();
          await succeeds(rollout);
        });
        expect(await gatewayEnded).toBe(0);
        await stops('rolled-out-1');
      })(),
      (async () => {
        await deployments.create({ name: 'restarted' });
        await rollOut('restarted', 1);
        let restart = '';
        await survive('restarted', [0], async () => {
          restart = (await deployments.restart('restarted')).operation.id;
          await drains('restarted', 'restarted-00001', 1);
        });
        // The instance restarts once its stream has ended, while the additional one serves.
        expect(await stack.operation(restart)).toMatchObject({ status: 'succeeded', result: { restarted: 1 } });
        expect(stack.simulatorStarts('restarted-1')).toHaveLength(3);
        await stops('restarted-1', 1);
      })(),
      (async () => {
        await deployments.create({ name: 'rolled-back' });
        await rollOut('rolled-back', 1);
        await rollOut('rolled-back', 2);
        await survive('rolled-back', [0], async () => {
          const rollback = await rollbacks.create('rolled-back', { reason: 'test' });
          await drains('rolled-back', 'rolled-back-00002', 1);
          await succeeds(rollback);
        });
        await stops('rolled-back-2');
      })(),
      (async () => {
        await deployments.create({ name: 'deleted' });
        await rollOut('deleted', 1);
        await survive('deleted', [0], async () => {
          // The deletion does not wait for the stream, and then nothing of the deployment is shown.
          await succeeds(await deployments.delete('deleted'));
          await expect(deployments.get('deleted')).rejects.toMatchObject({ status: 404 });
        });
        await stops('deleted-1');
      })(),
      (async () => {
        await deployments.create({ name: 'scaled-down' });
        await rollOut('scaled-down', 1, 2);
        // Each of both instances gets one.
        await survive('scaled-down', [0, 0], async () => {
          await deployments.update('scaled-down', { scaling: { min_replicas: 1 } });
          await drains('scaled-down', 'scaled-down-00001', 1);
        });
        await stops('scaled-down-1', 1);
      })(),
    ]);
    for (const name of ['rolled-out', 'rolled-back', 'scaled-down'])
      expect((await deployments.get(name)).draining).toBeNull();
  });
});
