import type pg from 'pg';

const CLAIM = {
  name: 'bench-claim',
  text: `update bench_operations set state = 'running', worker = 'w' where id = (
    select id from bench_operations where state = 'waiting' order by id limit 1 for update skip locked) returning id`,
};
const COMMIT_STEP = {
  name: 'bench-step',
  text: `with guarded as (update bench_operations set step = $2, state = case when $2 = $3::int then 'done' else state end where id = $1 and worker = 'w' returning id)
    insert into bench_steps (operation_id, step) select id, $2 from guarded`,
};

/** The least a durable worker can be: claim a row, then one statement that commits each step under the claim. */
export async function runClaimLoop(pool: pg.Pool, concurrency: number, steps: number): Promise<void> {
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      const client = await pool.connect();
      try {
        for (;;) {
          const {
            rows: [claimed],
          } = await client.query<{ id: string }>(CLAIM);
          if (!claimed) return;
          for (let step = 1; step <= steps; step += 1)
            await client.query({ ...COMMIT_STEP, values: [claimed.id, step, steps] });
        }
      } finally {
        client.release();
      }
    }),
  );
}
