import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Recurring, type Transact } from '../../scheduling/index.js';
import { OperationsBed } from '../../../test/operations/bed.js';
import { OperationRepair } from './leases.js';

let bed: OperationsBed;

beforeAll(async () => {
  bed = await OperationsBed.start();
});
afterAll(() => bed?.stop());

const transact: Transact = (scope, work) => bed.database.tx(scope, work);
const repair = () => new OperationRepair().run(transact);

/** An operation of a worker whose lease ends in so many milliseconds. */
async function held(ms: number): Promise<string> {
  const id = await bed.begin();
  await bed.sql(
    `update operations set status = 'running', attempt = 1, lease_version = 7, lease_expires_at = now() + make_interval(secs => $2)
     where id = $1`,
    [id, ms / 1_000],
  );
  return id;
}
const rowOf = async (id: string) =>
  (
    await bed.sql(
      'select lease_version::int as version, attempt, is_held as "isHeld", due_at is not null as "isDue" from operations where id = $1',
      [id],
    )
  )[0];
const FREED = { version: 8, attempt: 2, isHeld: false, isDue: true };

it('has a connection of its own, apart from the work of areas', () => {
  const options = Reflect.getMetadata(Recurring.KEY, OperationRepair.prototype.run) as unknown;
  expect(options).toEqual({ name: 'operations', everySeconds: 1, isRepair: true });
});

it('makes the operation of a dead worker due again, counts the attempt, and fences that worker out', async () => {
  const id = await held(-1);
  await repair();
  expect(await rowOf(id)).toEqual(FREED);
});

it('does not change operations that a worker holds, or that no worker has held', async () => {
  const [id, free] = [await held(60_000), await bed.begin()];
  await repair();
  expect(await rowOf(id)).toEqual({ version: 7, attempt: 1, isHeld: true, isDue: false });
  expect(await rowOf(free)).toMatchObject({ version: 0, attempt: 0, isDue: true });
});

it('sends no wake-up, because every worker that polls finds what is due', async () => {
  const id = await bed.begin();
  await bed.sql('delete from outbox');
  await bed.sql(`update operations set dispatched_at = now() - interval '1 hour' where id = $1`, [id]);
  await held(-1);
  await bed.sql('delete from outbox');
  await repair();
  expect(await bed.outbox()).toEqual([]);
});

it('is shared by concurrent repairs', async () => {
  const ids = await Promise.all(Array.from({ length: 20 }, () => held(-1)));
  await Promise.all([repair(), repair(), repair()]);
  for (const id of ids) expect(await rowOf(id)).toEqual(FREED);
});

it('skips a row that another transaction has locked', async () => {
  const [locked, free] = [await held(-1), await held(-1)];
  await bed.whileLocked('select 1 from operations where id = $1 for update', [locked], () => repair());
  expect([(await rowOf(locked))?.['version'], (await rowOf(free))?.['version']]).toEqual([7, 8]);
});
