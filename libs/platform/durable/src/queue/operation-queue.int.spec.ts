import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { postgresTestBackend, redisAnswers, redisTestBackend, type TestBackend } from '../../test/queue/backends.js';
import { QueueUnavailableError, type OperationQueue } from './operation-queue.js';
import { openPostgresBackend } from './postgres-backend.js';
import { createOperationQueue } from './queue.module.js';
import type { SupervisedQueue, SupervisionTimes } from './supervised-queue.js';

const redisUrl = process.env['REDIS_URL'];
const hasRedis = await redisAnswers(redisUrl);
/** The limits are generous, because creating the schema takes seconds on a busy machine. */
const TIMES: Partial<SupervisionTimes> = { probeEvery: 200, addWithin: 20_000, drainWithin: 3000 };
const IMPATIENT = { ...TIMES, addWithin: 500 };

backendSuite('Postgres', postgresTestBackend);
if (hasRedis) backendSuite('Redis', () => redisTestBackend(redisUrl!));
else it.skip('the queue on Redis (skipped: no Redis answers at REDIS_URL)', () => undefined);

function backendSuite(name: string, open: () => Promise<TestBackend>): void {
  describe(`the queue on ${name}`, () => {
    let backend: TestBackend;
    let queues: SupervisedQueue[] = [];
    const start = (times = TIMES) => {
      const queue = createOperationQueue(backend.config, times);
      queues.push(queue);
      return queue;
    };

    beforeEach(async () => {
      backend = await open();
    });
    afterEach(async () => {
      await Promise.all(queues.map((queue) => queue.close()));
      queues = [];
      await backend.remove();
    });

    it('hands 200 wake-ups to the handler, no more at a time than the concurrency allows', async () => {
      const [producer, worker] = [start(), start()];
      const seen = new Set<string>();
      let running = 0;
      let most = 0;
      await worker.consume(async (id) => {
        most = Math.max(most, ++running);
        // Longer than it takes to fetch the next one, so that they overlap.
        await new Promise((resolve) => setTimeout(resolve, 10));
        seen.add(id);
        running -= 1;
      }, 5);
      const ids = Array.from({ length: 200 }, (_, i) => `op_${i}`);
      await Promise.all(ids.map((operationId) => producer.add({ operationId, dispatch: 1 })));
      await eventually(() => seen.size === 200);
      expect(most).toBeGreaterThan(1);
      expect(most).toBeLessThanOrEqual(5);
    });

    it('accepts another dispatch of the same operation while the previous one is still being handled', async () => {
      const queue = start();
      const seen: string[] = [];
      let letGo!: () => void;
      const held = new Promise<void>((resolve) => (letGo = resolve));
      await queue.consume(async (id) => {
        seen.push(id);
        await held;
      }, 2);
      await queue.add({ operationId: 'op_a', dispatch: 1 });
      await eventually(() => seen.length === 1);
      await queue.add({ operationId: 'op_a', dispatch: 2 });
      await eventually(() => seen.length === 2);
      letGo();
    });

    it('holds a delayed wake-up back until its time', async () => {
      const queue = start();
      const handledAt = new Map<string, number>();
      await queue.consume(async (id) => void handledAt.set(id, Date.now()), 2);
      const addedAt = Date.now();
      await queue.add({ operationId: 'op_late', dispatch: 1, delayMs: 2_000 });
      await queue.add({ operationId: 'op_now', dispatch: 1 });
      await eventually(() => handledAt.size === 2);
      expect(handledAt.get('op_late')! - addedAt).toBeGreaterThanOrEqual(1_990);
      expect(handledAt.get('op_now')!).toBeLessThan(handledAt.get('op_late')!);
    });

    it('does not deliver a wake-up again after its handler failed', async () => {
      const queue = start();
      const seen: string[] = [];
      await queue.consume(async (id) => {
        seen.push(id);
        if (id === 'op_bad') throw new Error('on purpose');
      }, 1);
      await queue.add({ operationId: 'op_bad', dispatch: 1 });
      await queue.add({ operationId: 'op_good', dispatch: 1 });
      await eventually(() => seen.includes('op_good'));
      await queue.close();
      expect(seen).toEqual(['op_bad', 'op_good']);
    });

    it('starts while the backend is down, refuses wake-ups meanwhile, and works once it is up', async () => {
      await backend.proxy.cut();
      const queue = start(IMPATIENT);
      const seen = new Set<string>();
      await queue.consume(async (id) => void seen.add(id), 2);
      const askedAt = Date.now();
      await expect(queue.add({ operationId: 'op_early', dispatch: 1 })).rejects.toThrow(QueueUnavailableError);
      expect(Date.now() - askedAt).toBeLessThan(3000);
      expect(queue.ready()).toBe(false);

      await backend.proxy.restore();
      await eventually(() => queue.ready());
      await redispatchUntilSeen(queue, seen, 'op_early');
    });

    it('reconnects after an outage of the backend', async () => {
      const [producer, worker] = [start(IMPATIENT), start()];
      const seen = new Set<string>();
      await worker.consume(async (id) => void seen.add(id), 4);
      await redispatchUntilSeen(producer, seen, 'op_before');

      await backend.proxy.cut();
      await eventually(() => !producer.ready() && !worker.ready());
      await expect(producer.add({ operationId: 'op_during', dispatch: 1 })).rejects.toThrow(QueueUnavailableError);

      await backend.proxy.restore();
      await redispatchUntilSeen(producer, seen, 'op_during');
      await eventually(() => producer.ready() && worker.ready());
    });

    it('keeps its limit of running handlers when the session is replaced while they run', async () => {
      const queue = start();
      const entered: string[] = [];
      let most = 0;
      let running = 0;
      const gate = gateOf();
      await queue.consume(async (id) => {
        entered.push(id);
        most = Math.max(most, ++running);
        await gate.opened;
        running -= 1;
      }, 2);
      await queue.add({ operationId: 'op_1', dispatch: 1 });
      await queue.add({ operationId: 'op_2', dispatch: 1 });
      await eventually(() => entered.length === 2);
      await backend.wipe();
      // The new session delivers it while both slots are still taken.
      const { waitingForSlot } = queue as unknown as { waitingForSlot: unknown[] };
      await redispatchUntilSeen(queue, () => waitingForSlot.length > 0 || entered.length > 2, 'op_3');
      expect(entered).toEqual(['op_1', 'op_2']);
      gate.open();
      await eventually(() => entered.includes('op_3'));
      expect(most).toBe(2);
    });

    it('creates its data again after a wipe in the middle of its work', async () => {
      const [producer, worker] = [start(), start()];
      const seen = new Set<string>();
      await worker.consume(async (id) => {
        await new Promise(setImmediate);
        seen.add(id);
      }, 3);
      const ids = Array.from({ length: 60 }, (_, i) => `op_${i}`);
      const adding = Promise.all(
        ids.map((operationId) => producer.add({ operationId, dispatch: 1 }).catch(() => undefined)),
      );
      await eventually(() => seen.size > 3);
      await backend.wipe();
      await adding;
      await Promise.all(ids.map((id) => redispatchUntilSeen(producer, seen, id)));
      await eventually(() => producer.ready() && worker.ready());
    });

    it('works again within 30 s after the peers of all its connections have vanished silently', async () => {
      const [producer, worker] = [start(IMPATIENT), start(IMPATIENT)];
      const seen = new Set<string>();
      await worker.consume(async (id) => void seen.add(id), 2);
      await redispatchUntilSeen(producer, seen, 'op_before');
      backend.proxy.vanish();
      const gone = Date.now();
      for (let n = 0; !seen.has('op_after'); n += 1) {
        expect(Date.now() - gone).toBeLessThan(30_000);
        // The relay also sends again what was refused.
        await producer.add({ operationId: 'op_after', dispatch: n }).catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    });

    it('survives the end of all its connections', async () => {
      const [producer, worker] = [start(), start()];
      const seen = new Set<string>();
      await worker.consume(async (id) => void seen.add(id), 3);
      await redispatchUntilSeen(producer, seen, 'op_first');
      for (let round = 0; round < 3; round++) {
        await backend.killConnections();
        await redispatchUntilSeen(producer, seen, `op_round_${round}`);
      }
    });

    it('waits for the running handler when it closes', async () => {
      const queue = start();
      const gate = gateOf();
      let [entered, left] = [false, false];
      await queue.consume(async () => {
        entered = true;
        await gate.opened;
        left = true;
      }, 1);
      await queue.add({ operationId: 'op_slow', dispatch: 1 });
      await eventually(() => entered);
      const closing = queue.close();
      expect(left).toBe(false);
      gate.open();
      await closing;
      expect(left).toBe(true);
      expect(queue.ready()).toBe(false);
    });

    it('closes within its limit although a handler never ends', async () => {
      const queue = start({ ...TIMES, drainWithin: 300 });
      const gate = gateOf();
      let entered = false;
      await queue.consume(async () => {
        entered = true;
        await gate.opened;
      }, 1);
      await queue.add({ operationId: 'op_stuck', dispatch: 1 });
      await eventually(() => entered);
      const closedAt = Date.now();
      await queue.close();
      expect(Date.now() - closedAt).toBeLessThan(3000);
      gate.open();
    });

    if (name === 'Postgres') {
      it('repairs a schema of which only a part was dropped', async () => {
        const queue = start();
        const seen = new Set<string>();
        await queue.consume(async (id) => void seen.add(id), 1);
        await redispatchUntilSeen(queue, seen, 'op_before');
        await backend.sql!('drop table bullmq.job cascade');
        await redispatchUntilSeen(queue, seen, 'op_after');
      });

      it('survives a connection that is ended between two queries of its user', async () => {
        const session = await openPostgresBackend(backend.config.database.url);
        // BullMQ does this for a migration or a check of its schema: it holds a client without any listener.
        const { pool } = session as unknown as { pool: pg.Pool };
        const client = await pool.connect();
        // An 'error' event without a listener ends the process.
        expect(client.listenerCount('error')).toBe(1);
        const ended = new Promise((resolve) => client.once('end', resolve));
        await backend.killConnections();
        await ended;
        client.release(true);
        expect(await session.identity()).toMatch(/^\d+$/);
        await session.disconnect();
      });

      it('adds wake-ups one by one if temporary tables are forbidden', async () => {
        await backend.sql!(
          `do $$ begin execute format('revoke temporary on database %I from public', current_database()); end $$`,
        );
        const queue = start();
        const seen = new Set<string>();
        await queue.consume(async (id) => void seen.add(id), 5);
        await Promise.all(Array.from({ length: 20 }, (_, i) => queue.add({ operationId: `op_${i}`, dispatch: 1 })));
        await eventually(() => seen.size === 20);
      });

      it('opens no more connections than it declares', async () => {
        const queue = start();
        const seen = new Set<string>();
        await queue.consume(async (id) => void seen.add(id), 20);
        await Promise.all(Array.from({ length: 100 }, (_, i) => queue.add({ operationId: `op_${i}`, dispatch: 1 })));
        await eventually(() => seen.size === 100);
        await expect(
          backend.sql!(`do $$ begin assert (select count(*) from pg_stat_activity
            where datname = current_database() and application_name in ('slipway-queue', 'slipway-operations')) between 1 and 6; end $$`),
        ).resolves.toBeUndefined();
      });
    }
  });
}

/** Does what an outbox does: adds the operation again under the next dispatch until it was seen. */
async function redispatchUntilSeen(
  queue: OperationQueue,
  seen: Set<string> | ((id: string) => boolean),
  operationId: string,
): Promise<void> {
  let dispatch = 100;
  const done = () => (typeof seen === 'function' ? seen(operationId) : seen.has(operationId));
  await eventually(async () => {
    if (done()) return true;
    await queue
      .add({ operationId, dispatch: dispatch++ })
      .catch((error) => expect(error).toBeInstanceOf(QueueUnavailableError));
    await until(done, 300);
    return done();
  });
}

async function eventually(condition: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  if (!(await until(condition, ms))) throw new Error(`not within ${ms} ms: ${condition.toString()}`);
}

async function until(condition: () => boolean | Promise<boolean>, ms: number): Promise<boolean> {
  const deadline = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return true;
}

function gateOf(): { opened: Promise<void>; open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
