import { expect, it } from '@jest/globals';
import { SilentBackend } from '../../test/queue/silent-backend.js';
import { QueueSession, type QueueBackend } from './queue-session.js';

const open = (backend: QueueBackend) => QueueSession.open(backend, () => undefined);
const wakeUp = { operationId: 'op_a', dispatch: 1 };
const nextIteration = () => new Promise((resolve) => setImmediate(resolve));
/** How an add ended, if it has. */
function added(session: QueueSession): { as?: string } {
  const outcome: { as?: string } = {};
  session.add(wakeUp).then(
    () => (outcome.as = 'taken'),
    (error: Error) => (outcome.as = error.message),
  );
  return outcome;
}

it('refuses wake-ups that are in flight when it is closed', async () => {
  const backend = new SilentBackend();
  const session = await open(backend);
  const sent = added(session);
  await nextIteration();
  expect([backend.added, sent.as]).toEqual([1, undefined]);
  const gathered = added(session);
  await session.close(0);
  await nextIteration();
  expect([sent.as, gathered.as]).toEqual(Array(2).fill('the session of the queue was closed'));
});

it('refuses wake-ups after it was closed', async () => {
  const backend = new SilentBackend();
  const session = await open(backend);
  await session.close(0);
  const late = added(session);
  await nextIteration();
  expect([backend.added, late.as]).toEqual([0, 'the session of the queue was closed']);
});

it('fails its probe once its data was created again or its worker has stopped', async () => {
  const backend = new SilentBackend();
  const session = await open(backend);
  await session.work(async () => undefined, 1);
  await session.probe();
  backend.id = 'another';
  await expect(session.probe()).rejects.toThrow('the data of the queue was wiped');
  backend.id = 'one';
  await session.probe();
  backend.isWorking = false;
  await expect(session.probe()).rejects.toThrow('the worker of the queue has stopped');
});
