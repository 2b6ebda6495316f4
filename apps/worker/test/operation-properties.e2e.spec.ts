import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DiscoveryService } from '@nestjs/core';
import { AuthModule, ensureBootstrap } from '@slipway/platform-http/auth';
import { HttpModule, type Principal } from '@slipway/platform-http';
import { operationFailures, StepFailed } from '@slipway/platform-durable/operations';
import { Schedule } from '@slipway/platform-durable/scheduling';
import {
  everyCrashResumes,
  everyStepIsRepeatable,
  everyStepMayFail,
  OperationHarness,
  testConfig,
  type OperationCase,
  type OperationRecord,
} from '@slipway/platform-durable/operations/testing';
import { AREAS, MIGRATIONS, TargetKindsModule } from '@slipway/registry';
import { operatorConfig } from './operator-config.js';

/**
 * The three properties of every durable operation, for the product's own, with its real areas and reconciler. The model
 * server is one that already runs, because each of these worlds needs one and starting a hundred shows nothing more.
 */
describe('rollout and rollback', () => {
  const home = mkdtempSync(path.join(tmpdir(), 'slipway-properties-'));
  let harness: OperationHarness;
  let principal: Principal;
  let number = 0;
  let server: Server;

  const spec = (model: string) => ({
    model: { id: model },
    runtime: { target: 'adopted' },
    endpoint: {
      base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      protocol: 'openai',
      health_path: '/health',
    },
  });

  /** A provider by its class or its port: apps know the registry, not the areas behind it. */
  const service = (name: string): any => {
    const nameOf = (token: unknown) =>
      typeof token === 'symbol' ? token.description : (token as { name?: string } | undefined)?.name;
    return harness.context
      .get(DiscoveryService, { strict: false })
      .getProviders()
      .find((one) => nameOf(one.token) === name)?.instance;
  };

  beforeAll(async () => {
    server = createServer((_request, response) => response.end('{}'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    harness = await OperationHarness.start({
      migrations: MIGRATIONS,
      modules: [HttpModule, AuthModule, TargetKindsModule.forRoot(), ...AREAS],
      config: { home, operator: operatorConfig() },
    });
    const config = { ...testConfig(harness.testDatabase.url), bootstrapToken: `slw_properties01_${'p'.repeat(40)}` };
    await ensureBootstrap(harness.database, config);
    const [tenant] = await harness.database.read<{ id: string; name: string }>(
      'system',
      'select id, name from tenants',
    );
    principal = {
      tenantId: tenant!.id,
      tenantName: tenant!.name,
      isOperatorTenant: true,
      actor: { type: 'token', id: 'test' },
      scopes: new Set(['admin', 'operator', 'viewer']),
      owner: { type: 'person', id: 'alice' },
      minters: [],
    };
  });
  afterAll(async () => {
    await harness.context.close();
    await harness.testDatabase.drop();
    server.close();
    server.closeAllConnections();
    rmSync(home, { recursive: true, force: true });
  });

  const read = async (name: string) =>
    harness.database.tx({ tenantId: principal.tenantId }, async (tx) => {
      const deployment = await service('DeploymentsPort').get(tx, principal.tenantId, name);
      const route = await service('RoutesPort').current(tx, deployment.id);
      return {
        deployment,
        targets: route?.targets.map((target: any) => [target.revisionName, target.weight]),
        owner: await service('RoutesPort').trafficOwner(tx, deployment.id),
      };
    });
  const rollout = async (name: string, model: string, type = 'immediate', steps?: object[]) => {
    const answer = await service('RolloutsService').create({
      principal,
      deploymentName: name,
      isDryRun: false,
      body: { spec: spec(model), strategy: { type, steps }, progress_deadline_seconds: 20, keep_previous_seconds: 60 },
    });
    return JSON.parse(answer.body.text).operation.id as string;
  };
  const rollback = async (name: string) => {
    const answer = await service('RollbacksService').create({
      principal,
      deploymentName: name,
      isDryRun: false,
      body: { on_active_operation: 'supersede' },
    });
    return JSON.parse(answer.body.text).operation.id as string;
  };
  /** A deployment whose first revision serves, then the operation under test. */
  const world = async (begin: (name: string) => Promise<string>, revisions: number) => {
    const name = `p-${++number}`;
    await service('DeploymentsService').create(principal, { name, labels: {}, revision_history_limit: 10 }, false);
    for (let i = 1; i <= revisions; i += 1)
      await harness.finish(principal.tenantId, await rollout(name, `${name}-m${i}`));
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
    tenantId: principal.tenantId,
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
      const status = await harness.database.tx<{ desired: number } | undefined>('system', (tx) =>
        service('InstancesPort').status(tx, record['result'].revision_id),
      );
      expect(status?.desired ?? 0).toBe(0);
    },
  });
  const rollbackCase = (): OperationCase => ({
    harness,
    tenantId: principal.tenantId,
    kind: 'rollback',
    begin: () => world(rollback, 2),
    assertSucceeded: async (record) => expect(await restingOf(record)).toEqual([[revisionsOf(record)[0], 100]]),
    assertUnwound: async (record) => void (await restingOf(record)),
  });
  /** Of a canary that has a quarter of the traffic, which must be gone however the rollback ends. */
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
      tenantId: principal.tenantId,
      kind: 'rollback',
      begin: () =>
        world(async (name) => {
          const canary = await rollout(name, `${name}-next`, 'canary', [step(25, true), step(100)]);
          await harness.finish(principal.tenantId, canary);
          expect((await read(name)).targets.map(([, weight]: [string, number]) => weight)).toEqual([75, 25]);
          return rollback(name);
        }, 1),
      assertSucceeded: rests,
      assertUnwound: rests,
    };
  };
  const broken = (step: string) => new StepFailed(operationFailures.dependency_outage, `${step} broke`);

  it('keeps as many surplus revisions as a deployment asks for, and all that something refers to', async () => {
    const name = `p-${++number}`;
    await service('DeploymentsService').create(principal, { name, labels: {}, revision_history_limit: 1 }, false);
    for (let i = 1; i <= 5; i += 1) await harness.finish(principal.tenantId, await rollout(name, `${name}-m${i}`));
    const { deployment } = await read(name);
    const states = `update revisions set state = 'retired' where deployment_id = $1 and state = 'standby'`;
    await harness.database.tx('system', (tx) => tx.query(states, [deployment.id]));
    await harness.context.get(Schedule).runNow('revision-history');
    const left = await harness.database.read<{ number: number }>(
      'system',
      'select number from revisions where deployment_id = $1 order by number',
      [deployment.id],
    );
    // 5 is active, 4 the previous one, 3 the one surplus revision that is kept.
    expect(left.map((row) => row.number)).toEqual([3, 4, 5]);
  }, 60_000);

  it('every step of a rollout is repeatable', () => everyStepIsRepeatable(rolloutCase()), 240_000);
  it('every step of a rollout may fail and unwinds clean', () => everyStepMayFail(rolloutCase(), broken), 240_000);
  it('a crash around each commit of a rollout resumes', () => everyCrashResumes(rolloutCase()), 240_000);
  it('every step of a rollback is repeatable', () => everyStepIsRepeatable(rollbackCase()), 240_000);
  it(
    'every step of a rollback may fail, and none restores what it left',
    () => everyStepMayFail(rollbackCase(), broken),
    240_000,
  );
  it('a crash around each commit of a rollback resumes', () => everyCrashResumes(rollbackCase()), 240_000);
  it(
    '10.6: every step of a rollback out of a canary may fail, and none leaves the share of what it superseded',
    () => everyStepMayFail(rollbackOfCanaryCase(), broken),
    240_000,
  );
  it(
    '10.6: a crash around each commit of a rollback out of a canary resumes',
    () => everyCrashResumes(rollbackOfCanaryCase()),
    240_000,
  );
});
