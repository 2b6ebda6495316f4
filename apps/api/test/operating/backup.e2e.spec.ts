import { afterEach, expect, it, jest } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { emptied } from '../harness/emptied-database.js';
import { command } from '../harness/operator-command.js';
import { isAlive, Stack, until } from '../harness/stack.js';

jest.setTimeout(180_000);

const stacks: Stack[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const stack of stacks.splice(0)) await stack.stop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function scratch(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'slipway-backup-'));
  folders.push(folder);
  return folder;
}

const spec = (model: string) => ({ model: { id: model }, runtime: { target: 'local', engine: 'sim' } });

async function served(stack: Stack, model: string): Promise<{ status: number; revision: string | null }> {
  const answer = await fetch(`${stack.gatewayUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
  });
  await answer.text();
  return { status: answer.status, revision: answer.headers.get('x-slipway-revision') };
}

const rollOut = (stack: Stack, name: string, model: string, strategy: object): Promise<string> =>
  // Nothing sends requests meanwhile, so there is nothing to judge.
  stack.rollOut(name, { spec: spec(model), strategy, analysis: { mode: 'none' } });

it('a back-up made under load is restored into an empty installation: running work continues, and nothing is stuck', async () => {
  const old = await Stack.start({ gateway: true });
  stacks.push(old);
  await old.slipway().deployments.create({ name: 'chat' });
  await old.operation(await rollOut(old, 'chat', 'first', { type: 'immediate' }));
  await until('the gateway serves it', async () => (await served(old, 'chat')).status === 200);
  const { tokens, sandboxes } = old.slipway();
  const { token: minted } = await tokens.create({ name: 'later', scopes: ['viewer'] });
  const { id: sandbox } = await sandboxes.create();
  await sandboxes.files.put(sandbox, { path: 'a.txt', content: 'kept' });
  const soaking = await rollOut(old, 'chat', 'second', {
    type: 'canary',
    steps: [
      // Longer than a back-up takes on a busy machine, because it must be made within the soak.
      { traffic_percent: 50, soak_seconds: 15 },
      { traffic_percent: 100, soak_seconds: 0 },
    ],
  });
  await until('the canary soaks', async () => (await old.operation(soaking, ['waiting'])).current_step === 'soak:1');

  // The back-up, during concurrent writes.
  let isOver = false;
  const writing = (async () => {
    for (let i = 0; !isOver; i += 1) await old.slipway().deployments.create({ name: `while-${i}` });
  })();
  const folder = path.join(scratch(), 'b');
  const backup = await command(old, 'backup', folder);
  isOver = true;
  await writing;
  expect(backup).toEqual({ status: 0, out: expect.stringMatching(/^backed up \d+ rows and workspaces to .*\n/) });
  expect(backup.out).toContain('the backup does not contain SLIPWAY_SECRET_KEY');

  // Everything after it is lost, except at the gateway, which has seen it: generations
  // that the restored database does not have.
  await old.operation(soaking);
  await old.slipway().deployments.create({ name: 'lost' });
  await old.operation(await rollOut(old, 'lost', 'lost', { type: 'immediate' }));
  await until('the gateway serves what will be lost', async () => (await served(old, 'lost')).status === 200);
  const [{ generation: seen }] = await old.query('select max(generation)::int as generation from dataplane_routes');
  const [newest] = (await old.slipway().deployments.events.list('chat', { limit: 1 })).data;
  await old.kill('api');
  await old.kill('worker');
  for (const { pid } of old.simulatorStarts()) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  await emptied(old.testDatabase.ownerUrl);

  const home = scratch();
  const fresh = { testDatabase: old.testDatabase, home };
  expect(await command(fresh, 'restore', folder)).toEqual({ status: 0, out: `restored ${folder}\n` });
  const [{ generation: restored }] = await old.query('select max(generation)::int as generation from dataplane_routes');
  expect(restored).toBeLessThan(seen);
  const now = await Stack.start({ home, database: old.testDatabase });
  stacks.push(now);

  // The candidate's engine is gone, which is a crash in a soak: the restored
  // operation ends, with the route that it had found.
  expect(await now.operation(soaking)).toMatchObject({
    status: 'failed',
    error_code: 'health_regression',
    result: { outcome: 'reverted' },
  });
  await until('the gateway forgets what was lost', async () => (await served(old, 'lost')).status === 404);
  await until('its engine runs again', async () => (await served(old, 'chat')).revision === 'chat-00001');
  expect(now.simulatorStarts('first')).toHaveLength(1);
  // Its generation has a number that the gateway had already seen, with other content.
  expect(await now.operation(await rollOut(now, 'chat', 'third', { type: 'immediate' }))).toMatchObject({
    status: 'succeeded',
  });
  await until('the gateway follows it', async () => (await served(old, 'chat')).revision === 'chat-00003');

  const slipway = now.slipway();
  const { data: operations } = await slipway.operations.list({ limit: 200 });
  expect(new Set(operations.map(({ status }) => status))).toEqual(new Set(['succeeded', 'failed']));
  expect(await now.as(minted!).whoAmI()).toMatchObject({ scopes: ['viewer'] });
  expect(await (await slipway.sandboxes.files.download(sandbox, 'a.txt')).text()).toBe('kept');

  // A watcher that had seen more than there is now continues from here.
  const beyond = { after: newest!.sequence + 1_000, signal: AbortSignal.timeout(60_000) };
  const told = slipway.deployments.events.follow('chat', beyond);
  let heard: unknown;
  const hearing = told.next().then(({ value }) => (heard = value));
  // It receives the changes that are made once it watches, and only this shows when that begins.
  let changes = 0;
  const change = () => slipway.deployments.policy.set('chat', { evidence: { min_samples: 100 + (changes += 1) } });
  await until('the watcher is told', async () => (await change()) && heard !== undefined);
  expect(heard).toMatchObject({ type: 'policy.updated' });
  await hearing;
  await told.return();

  await until('the audit is sealed', async () => {
    const { data } = await slipway.audit.list({ limit: 50 });
    return data.every(({ sequence }) => sequence !== null);
  });
  expect(await command(now, 'audit-verify')).toMatchObject({ status: 0, out: expect.stringContaining('unsealed=0') });

  expect(await command(now, 'restore', folder)).toEqual({
    status: 1,
    out: expect.stringMatching(
      /^nothing was restored: the database is in use \(\w+ has rows\): restore into a new database\n$/,
    ),
  });
});

it('reports in one line how it was called wrongly', async () => {
  const stack = await Stack.start();
  stacks.push(stack);
  expect(await command(stack, 'backup')).toEqual({
    status: 1,
    out: 'the backup failed: specify a new folder: npm run backup -- <folder>\n',
  });
  expect((await command(stack, 'backup', fileURLToPath(new URL('.', import.meta.url)))).out).toMatch(
    /is not empty: specify a new or empty folder\n$/,
  );
  expect((await command(stack, 'restore', scratch())).out).toMatch(
    /does not contain a complete backup: backup.json is missing\n$/,
  );
});
