import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { operationFailures, StepFailed } from '@slipway/platform-durable/operations';
import {
  everyCrashResumes,
  everyStepIsRepeatable,
  everyStepMayFail,
  type OperationCase,
  type OperationHarness,
  type OperationRecord,
} from '@slipway/platform-durable/operations/testing';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { INSTANCES, type InstancesPort } from '@slipway/ports/instances';
import { ROUTES, type RoutesPort } from '@slipway/ports/routing';
import type { BodyOf } from '@slipway/sdk';
import { ProductBed } from './product-bed.js';

/**
 * The three properties of every durable operation, for the product's own operations with their
 * real areas and reconciler. The model server already runs, because each of these worlds needs one
 * and starting a hundred shows nothing more.
 */
describe('rollout and rollback', () => {
  const home = mkdtempSync(path.join(tmpdir(), 'slipway-properties-'));
  let bed: ProductBed;
  let harness: OperationHarness;
  let number = 0;
  let server: Server;

  const spec = (model: string) => ({
    model: { id: model },
    runtime: { target: 'adopted' },
    endpoint: {
      base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      protocol: 'openai' as const,
      health_path: '/health',
    },
  });

  beforeAll(async () => {
    server = createServer((_request, response) => response.end('{"choices":[]}'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    bed = await ProductBed.start({ process: 'worker', config: { home } });
    harness = bed.operations;
  });
  afterAll(async () => {
    await bed?.stop();
    server.close();
    server.closeAllConnections();
    rmSync(home, { recursive: true, force: true });
  });

  const read = async (name: string) =>
    bed.database.tx({ tenantId: bed.tenantId }, async (tx) => {
      const deployment = await bed.port<DeploymentsPort>(DEPLOYMENTS).get(tx, bed.tenantId, name);
      const routes = bed.port<RoutesPort>(ROUTES);
      const route = await routes.current(tx, deployment.id);
      return {
        deployment,
        targets: route?.targets.map(({ revisionName, weight }) => [revisionName, weight] as const),
        owner: await routes.trafficOwner(tx, deployment.id),
      };
    });
  const rollout = async (
    name: string,
    model: string,
    strategy: NonNullable<BodyOf<'createRollout'>['strategy']> = { type: 'immediate' },
  ) => {
    const analysis = { mode: 'none' } as const;
    const body = { spec: spec(model), strategy, analysis, progress_deadline_seconds: 20, keep_previous_seconds: 60 };
    return (await bed.slipway.deployments.rollouts.create(name, body)).operation.id;
  };
  const rollback = async (name: string) => (await bed.slipway.deployments.rollbacks.create(name)).operation.id;
  /** A deployment whose first revision serves, then the operation under test. */
  const world = async (begin: (name: string) => Promise<string>, revisions: number) => {
    const name = `p-${++number}`;
    await bed.slipway.deployments.create({ name, revision_history_limit: 10 });
    for (let i = 1; i <= revisions; i += 1) await harness.finish(bed.tenantId, await rollout(name, `${name}-m${i}`));
    return begin(name);
  };
  const restingOf = async (record: OperationRecord) => {
    const { deployment, targets, owner } = await read(record['resource_name']);
    expect([deployment.currentOperationId, owner]).toEqual([null, undefined]);
    return targets;
  };
  const revisionsOf = (record: OperationRecord) => [1, 2].map((n) => `${record['resource_name']}-0000${n}`);

  const rolloutCase = (): OperationCase => ({
    harness,
    tenantId: bed.tenantId,
    kind: 'rollout',
    begin: () => world((name) => rollout(name, `${name}-next`), 1),
    assertSucceeded: async (record) => {
      expect(await restingOf(record)).toEqual([[revisionsOf(record)[1], 100]]);
      const rows = await harness.database.read('system', 'select 1 from revision_activations where operation_id = $1', [
        record['id'],
      ]);
      expect(rows).toHaveLength(1);
    },
    assertUnwound: async (record) => {
      expect(await restingOf(record)).toEqual([[revisionsOf(record)[0], 100]]);
      const status = await bed.database.tx('system', (tx) =>
        bed.port<InstancesPort>(INSTANCES).status(tx, record['result'].revision_id),
      );
      expect(status?.desired ?? 0).toBe(0);
    },
  });
  const rollbackCase = (): OperationCase => ({
    harness,
    tenantId: bed.tenantId,
    kind: 'rollback',
    begin: () => world(rollback, 2),
    assertSucceeded: async (record) => expect(await restingOf(record)).toEqual([[revisionsOf(record)[0], 100]]),
    assertUnwound: async (record) => void (await restingOf(record)),
  });
  /** Rolls back a canary that has a quarter of the traffic. The canary must be gone, however the rollback ends. */
  const rollbackOfCanaryCase = (): OperationCase => {
    const rests = async (record: OperationRecord) =>
      expect(await restingOf(record)).toEqual([[revisionsOf(record)[0], 100]]);
    const step = (traffic_percent: number, requires_approval = false) => ({
      traffic_percent,
      soak_seconds: 0,
      requires_approval,
    });
    return {
      harness,
      tenantId: bed.tenantId,
      kind: 'rollback',
      begin: () =>
        world(async (name) => {
          const canary = await rollout(name, `${name}-next`, { type: 'canary', steps: [step(25, true), step(100)] });
          await harness.finish(bed.tenantId, canary);
          expect((await read(name)).targets?.map(([, weight]) => weight)).toEqual([75, 25]);
          return rollback(name);
        }, 1),
      assertSucceeded: rests,
      assertUnwound: rests,
    };
  };
  const broken = (step: string) => new StepFailed(operationFailures.dependency_outage, `${step} broke`);

  it('keeps as many surplus revisions as the deployment specifies, and all revisions that something refers to', async () => {
    const name = `p-${++number}`;
    await bed.slipway.deployments.create({ name, revision_history_limit: 1 });
    for (let i = 1; i <= 5; i += 1) await harness.finish(bed.tenantId, await rollout(name, `${name}-m${i}`));
    const { deployment } = await read(name);
    const states = `update revisions set state = 'retired' where deployment_id = $1 and state = 'standby'`;
    await harness.database.tx('system', (tx) => tx.query(states, [deployment.id]));
    await bed.runNow('revision-history');
    const left = await harness.database.read<{ number: number }>(
      'system',
      'select number from revisions where deployment_id = $1 order by number',
      [deployment.id],
    );
    // 5 is active, 4 is the previous one, and 3 is the one surplus revision that is kept.
    expect(left.map((row) => row.number)).toEqual([3, 4, 5]);
  }, 60_000);

  it('every step of a rollout is repeatable', () => everyStepIsRepeatable(rolloutCase()), 240_000);
  it(
    'every step of a rollout may fail, and the rollout unwinds cleanly',
    () => everyStepMayFail(rolloutCase(), broken),
    240_000,
  );
  it('a rollout resumes after a crash around each commit', () => everyCrashResumes(rolloutCase()), 240_000);
  it('every step of a rollback is repeatable', () => everyStepIsRepeatable(rollbackCase()), 240_000);
  it(
    'every step of a rollback may fail, and no failure restores the revision that was left',
    () => everyStepMayFail(rollbackCase(), broken),
    240_000,
  );
  it('a rollback resumes after a crash around each commit', () => everyCrashResumes(rollbackCase()), 240_000);
  it(
    'every step of a rollback out of a canary may fail, and no failure keeps the share of the superseded canary',
    () => everyStepMayFail(rollbackOfCanaryCase(), broken),
    240_000,
  );
  it(
    'a rollback out of a canary resumes after a crash around each commit',
    () => everyCrashResumes(rollbackOfCanaryCase()),
    240_000,
  );
});
