import { expect, it } from '@jest/globals';
import { startStubApi } from '../../test/stub-api/index.js';
import { PODS } from './kinds.js';
import type { Pod } from './objects.js';
import { Reflector } from './reflector.js';
import { KubeApi } from './requests.js';

const NS = 'models';
const CUTS = 200;
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

it(`after ${CUTS} cuts of the watch there is one watch, no socket is left and no object is lost`, async () => {
  const stub = await startStubApi();
  const api = new KubeApi(stub.cluster(), { shorterPauses: 50 });
  const seen = new Set<string>();
  const reflector = new Reflector<Pod>(api, {
    kind: PODS,
    namespace: NS,
    onChange: (_before, after) => seen.add(after?.status?.phase ?? ''),
    clock: { shorterRetries: 250, shortestWatchMs: 1 },
  });
  reflector.start();
  let most = 0;
  for (let cut = 0; cut < CUTS; cut += 1) {
    for (const end = Date.now() + 5_000; !(reflector.isSynced && stub.sockets.watches === 1); await pause(1))
      if (Date.now() > end) throw new Error(`no watch after cut ${cut}`);
    stub.store.put<Pod>(PODS, { metadata: { name: 'p', namespace: NS }, status: { phase: `phase ${cut}` } });
    for (const end = Date.now() + 5_000; !seen.has(`phase ${cut}`); await pause(1))
      if (Date.now() > end) throw new Error(`phase ${cut} was not seen`);
    most = Math.max(most, stub.sockets.open);
    stub.cutWatches();
  }
  // A connection of calls, the watch, and one that is just closing.
  expect(most).toBeLessThanOrEqual(3);
  expect(seen.size).toBe(CUTS);
  const full = stub.requests.filter(({ verb, query }) => verb === 'list' && query.limit === '500');
  expect(full).toHaveLength(1);
  await reflector.close();
  await api.close();
  for (const end = Date.now() + 5_000; stub.sockets.open > 0 && Date.now() < end;) await pause(5);
  expect(stub.sockets.open).toBe(0);
  await stub.close();
});
