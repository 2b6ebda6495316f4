import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { INSTALLATION, instanceSpec, targetConfig, until } from '../../test/driver-bench.js';
import { startStubApi, type StubApi } from '../../test/stub-api/index.js';
import { deploymentOf } from '../../test/target-fixture.js';
import { PDBS, SERVICES } from '../api/kinds.js';
import { KubeApi } from '../api/requests.js';
import { RefusedObjects } from '../health/refused-objects.js';
import { RevisionKeeper } from './revision-keeper.js';
import { revisionObjectName } from '../manifests/unit-names.js';

const config = targetConfig();
const writer = { installation: INSTALLATION };

let stub: StubApi;
let api: KubeApi;
let revisions: RevisionKeeper;
let troubles: unknown[];
beforeEach(async () => {
  stub = await startStubApi();
  api = new KubeApi(stub.cluster(), { shorterPauses: 50 });
  troubles = [];
  const units = { all: () => [].values() as never, has: () => true, isSyncedIn: () => true };
  const onTrouble = (error: unknown) => void troubles.push(error);
  const about = { labelSelector: '', writer, onTrouble, refused: new RefusedObjects() };
  revisions = new RevisionKeeper(api, units, { ...about, clock: { shorterRetries: 5 } });
});
afterEach(async () => {
  await Promise.all([api.close(), revisions.close()]);
  await stub.close();
});

const specOf = (tenant: string, at: number) =>
  instanceSpec({
    instanceId: `ins_${tenant}${at}`,
    owner: {
      tenantId: `ten_${tenant}`,
      deploymentId: `dep_${tenant}${at}`,
      revisionId: `rev_${tenant}${at}`,
      revisionName: `${tenant}-${at}`,
      ordinal: 0,
    },
  });

/** Like the driver with each observation, for this number of revisions of a tenant. */
function look(tenant: string, count: number): void {
  for (let at = 1; at <= count; at += 1) {
    const spec = specOf(tenant, at);
    const unit = deploymentOf(spec, config, writer);
    revisions.keep(spec, config, { ...unit, metadata: { ...unit.metadata, uid: `uid-${spec.instanceId}` } });
  }
}

const applied = () =>
  stub.requests.filter(({ verb }) => verb === 'apply').map(({ plural, name }) => `${plural}/${name}`);
const appliedOf = (tenant: string) => applied().filter((one) => one.includes(`/slw-${tenant}-`));
const there = () => [SERVICES, PDBS].flatMap((kind) => stub.store.list(kind));
/** Waits until earlier requests have reached the server, even through a connection that is still being opened. */
const roundTrips = async () => {
  for (let time = 0; time < 10; time += 1) await api.version();
};

it('eight writes run at once, four for each tenant, and no tenant waits for all writes of another', async () => {
  let goOn: () => void = () => undefined;
  stub.odd({ verb: 'apply' }, { until: new Promise<void>((done) => (goOn = done)) });
  const lookUntil = (tenant: string, wanted: number) =>
    until(
      () => {
        look(tenant, 20);
        return appliedOf(tenant).length;
      },
      (count) => count === wanted,
    );
  await lookUntil('many', 4);
  await lookUntil('more', 4);
  look('third', 1);
  await roundTrips();
  expect(applied()).toHaveLength(8);
  goOn();
  await revisions.settled();
  expect(there()).toHaveLength(2 * 41);
  expect(new Set(applied()).size).toBe(applied().length);
  const positions = appliedOf('third').map((one) => applied().indexOf(one));
  expect(Math.max(...positions)).toBeLessThan(2 * 8 + 2);
});

it('a write in progress is not repeated, whatever happens meanwhile', async () => {
  let goOn: () => void = () => undefined;
  stub.odd({ verb: 'apply' }, { until: new Promise<void>((done) => (goOn = done)) });
  await until(
    () => {
      look('one', 1);
      return applied().length;
    },
    (count) => count === 2,
  );
  for (let time = 0; time < 3; time += 1) {
    // Each unit is handled again, like after a change of the file.
    revisions.keep(specOf('one', 1), { ...config }, deploymentOf(specOf('one', 1), config, writer));
    await roundTrips();
  }
  expect(applied()).toHaveLength(2);
  goOn();
  await revisions.settled();
  look('one', 1);
  await revisions.settled();
  expect(applied()).toHaveLength(2);
});

it('a refused write is repeated when all others are done, including those of other tenants', async () => {
  const refused = revisionObjectName(specOf('one', 1));
  stub.odd({ verb: 'apply', plural: PDBS.plural, name: refused }, { status: 422 }, 2);
  await until(
    () => {
      look('one', 1);
      look('many', 30);
      return there().length;
    },
    (count) => count === 2 * 31,
  );
  const budgets = applied().filter((one) => one.startsWith(PDBS.plural));
  expect(budgets).toHaveLength(31 + 2);
  expect(budgets.slice(-2)).toEqual([`${PDBS.plural}/${refused}`, `${PDBS.plural}/${refused}`]);
  expect(troubles).toHaveLength(2);
});

it('a server in trouble gets only the requests in progress, and no others for a while', async () => {
  const healed = stub.odd({ verb: 'apply' }, { status: 500 });
  await until(
    () => {
      look('one', 30);
      return applied().length;
    },
    (count) => count > 0,
  );
  await revisions.settled();
  expect(applied().length).toBeLessThanOrEqual(4 + 4);
  healed();
  await until(
    () => {
      look('one', 30);
      return there().length;
    },
    (count) => count === 2 * 30,
  );
});
