import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest } from '@jest/globals';
import { InstalledRelease, TOKEN } from './installed-release.js';
import { helm, itWith, kubectl } from './programs.js';

jest.setTimeout(600_000);
const it = itWith(helm, kubectl);
const PER_SECOND = 20;
const WAIT_MS = 120_000;
const COMPONENTS = ['api', 'worker', 'gateway'];

let release: InstalledRelease | undefined;

beforeAll(async () => {
  if (helm !== '' && kubectl !== '') release = await InstalledRelease.install();
});
afterAll(() => release?.close());

async function until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`${what}: not within ${WAIT_MS} ms\n${await release!.events()}`);
    await delay(250);
  }
}

/** A gateway that the Service would choose answers. */
async function chat(): Promise<string> {
  try {
    const answer = await fetch(`${await release!.urlOf('gateway')}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'hi' }] }),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await answer.text();
    return answer.status === 200 ? 'served' : `${answer.status} ${text}`;
  } catch (error) {
    return String((error as Error).cause ?? error);
  }
}

it('a release with the production values runs a model in a pod, and is upgraded under load with two of three gateways at any time and without a lost request', async () => {
  const { models, bed } = release!;
  const { deployments } = await release!.slipway();
  await deployments.create({ name: 'chat' });
  const begun = await deployments.rollouts.create('chat', {
    spec: { model: { id: 'm' }, runtime: { target: 'pods', engine: 'sim' } },
    strategy: { type: 'immediate' },
  });
  const operation = await until('the rollout is over', async () => {
    const record = await (await release!.slipway()).operations.get(begun.operation.id);
    return ['succeeded', 'failed', 'cancelled'].includes(record.status) && record;
  });
  expect([operation.status, operation.message]).toEqual(['succeeded', expect.anything()]);
  await until('it is served', async () => (await chat()) === 'served');
  const [model] = await bed.pods(models);
  const before = await uidsOf();

  const answers: Promise<string>[] = [];
  const gateways: number[] = [];
  let isOver = false;
  const load = (async () => {
    while (!isOver) {
      answers.push(chat());
      await delay(1_000 / PER_SECOND);
    }
  })();
  const watch = (async () => {
    while (!isOver) {
      gateways.push((await release!.serving('gateway')).length);
      await delay(250);
    }
  })();
  await release!.upgrade(...COMPONENTS.map((one) => `${one}.podAnnotations.round=second`));
  await until('no pod of before is left', async () => {
    const now = await uidsOf();
    return before.every((uid) => !now.includes(uid));
  });
  isOver = true;
  await Promise.all([load, watch]);
  const lost = (await Promise.all(answers)).filter((answer) => answer !== 'served');
  expect(answers.length).toBeGreaterThan(2 * PER_SECOND);
  expect(lost).toEqual([]);
  expect([Math.min(...gateways), Math.max(...gateways)]).toEqual([2, 3]);
  const [after, ...others] = await bed.pods(models);
  expect([after?.metadata.uid, others]).toEqual([model?.metadata.uid, []]);
  expect(await chat()).toBe('served');
});

async function uidsOf(): Promise<string[]> {
  const serving = await Promise.all(COMPONENTS.map((one) => release!.serving(one)));
  return serving.flat().map(({ metadata }) => metadata.uid);
}
