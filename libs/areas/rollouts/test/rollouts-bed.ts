import 'reflect-metadata';
import { expect } from '@jest/globals';
import { migrations as revisions, RevisionsModule } from '@slipway/area-revisions/revisions';
import { RevisionHistory } from '@slipway/area-revisions/testing';
import { DISTRIBUTIONS } from '@slipway/contracts';
import {
  emptyCounts,
  emptyHistogram,
  emptyLoads,
  histogramsOf,
  migrations as dataplane,
  reportGateway,
  writeWindows,
  type Histogram,
  type Loads,
  type StatsWindow,
} from '@slipway/dataplane';
import type { QuotaSettings } from '@slipway/platform-config';
import type { Database } from '@slipway/platform-database';
import type { IdempotencyClaim } from '@slipway/platform-http';
import { Schedule } from '@slipway/platform-durable/scheduling';
import { operationFailures, StepFailed } from '@slipway/platform-durable/operations';
import {
  everyCrashResumes,
  everyStepIsRepeatable,
  everyStepMayFail,
  OperationHarness,
  platformMigrations,
  type OperationCase,
  type OperationRecord,
  neighboursModule,
  testPrincipal,
} from '@slipway/platform-durable/operations/testing';
import { DEPLOYMENTS, type Deployment } from '@slipway/ports/deployment-records';
import { INSTANCES } from '@slipway/ports/instances';
import { PLANS } from '@slipway/ports/plans';
import { REVISIONS, type Revision, type RevisionsPort } from '@slipway/ports/revisions';
import { ROUTES } from '@slipway/ports/routing';
import { RolloutsModule } from '../src/index.js';
import { RollbacksService } from '../src/rollbacks.service.js';
import { RestartsService } from '../src/restarts.service.js';
import type { RestartDto, RollbackDto, RolloutDto } from '../src/rollout.dto.js';
import { RolloutsService } from '../src/rollouts.service.js';
import { RolloutsNeighbours } from './neighbours.js';

export const TENANT = 'ten_a';
export const PRINCIPAL = testPrincipal(TENANT);
export const ACTOR = PRINCIPAL.actor;

export const spec = (model: string) => ({ model: { id: model }, runtime: { target: 'local', engine: 'sim' } });
/** Canary steps without a soak, so that no test waits for one. */
export const canary = (...percents: number[]) => ({
  type: 'canary' as const,
  steps: percents.map((traffic_percent) => ({
    traffic_percent,
    soak_seconds: 0,
    requires_approval: false,
    pause: false,
  })),
});
/** For rollouts without recorded requests, which guards would pause. */
export const UNJUDGED = { mode: 'none', on_failure: 'rollback', on_inconclusive: 'pause' } as const;
export const IMMEDIATE = { type: 'immediate' as const };

let count = 0;

/** Values of one instance on which each request was alone. */
function aloneLoads(more: Partial<StatsWindow>): Loads {
  const loads = { ...emptyLoads(), instances: 1 };
  for (const metric of DISTRIBUTIONS)
    if (more[metric]) loads.histograms[metric] = { 0: more[metric] satisfies Histogram };
  return loads;
}

/** The area and revisions with their own database. Tests drive the operations and control the neighbouring areas. */
export class RolloutsBed {
  private readonly history = new RevisionHistory((text, values) => this.sql(text, values));

  private constructor(
    readonly harness: OperationHarness,
    readonly neighbours: RolloutsNeighbours,
  ) {}

  /** @param quotas of every tenant, if a test is about them */
  static async start(quotas: QuotaSettings = {}): Promise<RolloutsBed> {
    const neighbours = new RolloutsNeighbours();
    const others = neighboursModule([
      { provide: DEPLOYMENTS, useValue: neighbours.deploymentsPort },
      { provide: ROUTES, useValue: neighbours.routesPort },
      { provide: INSTANCES, useValue: neighbours.instancesPort },
      { provide: PLANS, useValue: neighbours.plansPort },
    ]);
    const harness = await OperationHarness.start({
      migrations: [...platformMigrations, ...dataplane, ...revisions],
      modules: [others, RevisionsModule, RolloutsModule],
      config: { operator: { targets: [], secrets: {}, quotas } },
    });
    return new RolloutsBed(harness, neighbours);
  }

  stop(): Promise<void> {
    return this.harness.stop();
  }

  get database(): Database {
    return this.harness.database;
  }

  get revisions(): RevisionsPort {
    return this.harness.context.get<RevisionsPort>(REVISIONS, { strict: false });
  }

  collect(): Promise<void> {
    return this.harness.context.get(Schedule, { strict: false }).runNow('revision-history');
  }

  /** A deployment without any rollout. The object is live: it shows the changes that operations make. */
  deployment(more: Partial<Deployment> = {}): Deployment {
    count += 1;
    return this.neighbours.addDeployment(`dep_${count}`, `chat-${count}`, TENANT, more);
  }

  /** A deployment on which this many revisions were active in sequence; the last one has all traffic. */
  async serving(revisions = 1, more: Partial<Deployment> = {}): Promise<Deployment> {
    const deployment = this.deployment(more);
    for (let number = 1; number <= revisions; number += 1) {
      const record = await this.finish(
        await this.rollout(deployment, { spec: spec(`m-${number}`), strategy: IMMEDIATE }),
      );
      if (record['status'] !== 'succeeded') throw new Error(`the preparation ended ${record['status']}`);
    }
    this.neighbours.routeChanges.length = 0;
    return deployment;
  }

  /**
   * Sends a rollout with the defaults that the API would fill in, and returns the answer. Nothing judges it, unless it or
   * its deployment has an analysis, or it names an undefined one.
   */
  async ask(deployment: Deployment, body: Partial<RolloutDto>, idempotency?: IdempotencyClaim): Promise<any> {
    const isUnjudged = !('analysis' in body) && !body.plan_id && !deployment.defaultAnalysis;
    const request = {
      principal: PRINCIPAL,
      deploymentName: deployment.name,
      isDryRun: false,
      body: (isUnjudged ? { ...body, analysis: UNJUDGED } : body) as RolloutDto,
      idempotency,
    };
    return answerOf(await this.get(RolloutsService).create(request));
  }

  rehearse(deployment: Deployment, body: Partial<RolloutDto>, idempotency?: IdempotencyClaim): Promise<unknown> {
    const request = { principal: PRINCIPAL, deploymentName: deployment.name, isDryRun: true, body: body as RolloutDto };
    return this.get(RolloutsService).create({ ...request, idempotency });
  }

  async rollout(deployment: Deployment, body: Partial<RolloutDto>): Promise<string> {
    return (await this.ask(deployment, body)).operation.id;
  }

  async askBack(deployment: Deployment, body: Partial<RollbackDto> = {}, idempotency?: IdempotencyClaim): Promise<any> {
    const full = { on_active_operation: 'supersede' as const, ...body };
    const request = { principal: PRINCIPAL, deploymentName: deployment.name, isDryRun: false, body: full, idempotency };
    return answerOf(await this.get(RollbacksService).create(request));
  }

  async rehearseBack(deployment: Deployment, body: Partial<RollbackDto> = {}): Promise<unknown> {
    const full = { on_active_operation: 'supersede' as const, ...body };
    const request = { principal: PRINCIPAL, deploymentName: deployment.name, isDryRun: true, body: full };
    return (await this.get(RollbacksService).create(request)).body;
  }

  async askRestart(
    deployment: Deployment,
    body: Partial<RestartDto> = {},
    idempotency?: IdempotencyClaim,
  ): Promise<any> {
    const request = { principal: PRINCIPAL, deploymentName: deployment.name, isDryRun: false, body, idempotency };
    return answerOf(await this.get(RestartsService).create(request));
  }

  async restart(deployment: Deployment, body: Partial<RestartDto> = {}): Promise<string> {
    return (await this.askRestart(deployment, body)).operation.id;
  }

  async rollback(deployment: Deployment, body: Partial<RollbackDto> = {}): Promise<string> {
    return (await this.askBack(deployment, body)).operation.id;
  }

  /** Runs the operation to its end, or until it waits for a person. */
  finish(id: string): Promise<OperationRecord> {
    return this.harness.finish(TENANT, id);
  }

  /** Runs the operation as far as possible now, without skipping its sleeps. */
  drive(id: string): Promise<OperationRecord> {
    return this.harness.drive(TENANT, id);
  }

  /** The same for an operation that first asks its host to prepare; the host has everything. */
  async begin(id: string): Promise<OperationRecord> {
    await this.drive(id);
    return this.wake(id);
  }

  /** The same, after skipping the current sleep. */
  wake(id: string): Promise<OperationRecord> {
    return this.harness.wake(TENANT, id);
  }

  record(id: string): Promise<OperationRecord> {
    return this.harness.record(TENANT, id);
  }

  age(id: string, seconds: number): Promise<void> {
    return this.harness.age(id, seconds);
  }

  async resume(id: string): Promise<void> {
    await this.database.tx({ tenantId: TENANT }, (tx) => this.harness.store.resume(tx, id, PRINCIPAL));
  }

  async pause(id: string, reason?: string): Promise<void> {
    await this.database.tx({ tenantId: TENANT }, (tx) => this.harness.store.pause(tx, id, PRINCIPAL, reason));
  }

  async promote(id: string, to: 'next' | 'full' = 'next'): Promise<void> {
    await this.database.tx({ tenantId: TENANT }, (tx) => this.harness.store.promote(tx, id, PRINCIPAL, { to }));
  }

  /** Lets the running soak have begun so many seconds ago, and read nothing yet. */
  async soakingFor(id: string, seconds: number): Promise<void> {
    await this.age(id, seconds);
    await this.sql(`update operation_steps set state = null where operation_id = $1 and status = 'waiting'`, [id]);
  }

  async cancel(id: string): Promise<void> {
    await this.database.tx({ tenantId: TENANT }, (tx) => this.harness.store.cancel(tx, id, ACTOR));
  }

  async retry(id: string): Promise<void> {
    await this.database.tx({ tenantId: TENANT }, (tx) => this.harness.store.retry(tx, id, ACTOR));
  }

  /** Makes every attempt of a step fail during `work`. */
  async whileBroken(kind: string, step: string, work: () => Promise<unknown>): Promise<void> {
    const steps = this.harness.definitions.find(kind)!.steps;
    const sound = steps[step]!;
    steps[step] = () => Promise.reject(new Error(`${step} breaks`));
    try {
      await work();
    } finally {
      steps[step] = sound;
    }
  }

  revision(deployment: Deployment, reference: number | string): Promise<Revision> {
    return this.database.tx('system', (tx) => this.revisions.find(tx, deployment.id, String(reference)));
  }

  /** Revisions and weights of the current route. */
  targets(deployment: Deployment): [string, number][] | undefined {
    return this.neighbours.routes.get(deployment.id)?.targets.map(({ revisionName, weight }) => [revisionName, weight]);
  }

  states(deployment: Deployment): Promise<string[]> {
    return this.history.states(deployment.id);
  }

  activations(deployment: Deployment): Promise<string[]> {
    return this.history.activations(deployment.id);
  }

  events(deployment: Deployment, type: string): Promise<any[]> {
    return this.history.events(deployment.id, type);
  }

  async audits(deployment: Deployment, action: string): Promise<number> {
    return (
      await this.sql('select 1 from audit_log where resource_name = $1 and action = $2', [deployment.name, action])
    ).length;
  }

  sql<R extends object = any>(sql: string, values: unknown[] = []): Promise<R[]> {
    return this.database.tx('system', (tx) => tx.query<R>(sql, values));
  }

  /** One gateway that stays live and has reported everything up to this time. */
  async gatewayUntil(statsUntil: Date): Promise<void> {
    await this.database.tx('system', (tx) =>
      reportGateway(tx, { gatewayId: 'gw', statsUntil, followed: [], inFlight: [] }),
    );
    await this.sql(`update dataplane_gateways set seen_at = now() + interval '1 hour'`);
  }

  /** Stores the requests that gateways recorded for a revision in one second, this many seconds ago. */
  async served(
    revisionId: string,
    what: { ok?: number; failed?: number; secondsAgo?: number; more?: Partial<StatsWindow>; loads?: Loads | null },
  ): Promise<void> {
    const at = Math.floor(Date.now() / 1_000) - (what.secondsAgo ?? 60);
    const window: StatsWindow = {
      revision_id: revisionId,
      tenant_id: TENANT,
      gateway_id: 'gw',
      window_start: new Date(at * 1_000).toISOString(),
      ...emptyCounts(),
      ok: what.ok ?? 0,
      server_error: what.failed ?? 0,
      streamed: 0,
      tokens_in: 0,
      tokens_out: 0,
      ...histogramsOf(() => emptyHistogram()),
      loads: what.loads === undefined ? aloneLoads(what.more ?? {}) : what.loads,
      callers: null,
      waits: null,
      faults: null,
      ...what.more,
    };
    await this.database.tx('system', (tx) => writeWindows(tx, [window]));
  }

  private get<T>(service: new (...given: any[]) => T): T {
    return this.harness.context.get(service, { strict: false });
  }
}

function answerOf(reply: { body: unknown }): any {
  return JSON.parse((reply.body as { text: string }).text);
}

const broken = (step: string) => new StepFailed(operationFailures.dependency_outage, `${step} broke`);

/** Checks that every step is repeatable, cleans up after a failure, and resumes after a crash around its commit. */
export async function everyStepRecovers(one: () => OperationCase): Promise<void> {
  await everyStepIsRepeatable(one());
  await everyStepMayFail(one(), broken);
  await everyCrashResumes(one());
}

/**
 * Asserts that an operation has left its deployment with this revision and no hold or owner.
 * @returns the id of the revision
 */
export async function expectAtRest(bed: RolloutsBed, record: OperationRecord, number: number): Promise<string> {
  const { deployments, routes, owners } = bed.neighbours;
  const deployment = [...deployments.values()].find((one) => one.name === record['resource_name'])!;
  const { id, name } = await bed.revision(deployment, number);
  expect(bed.targets(deployment)).toEqual([[name, 100]]);
  expect(routes.get(deployment.id)?.hold ?? null).toBeNull();
  expect([deployment.currentOperationId, owners.get(deployment.id)]).toEqual([null, undefined]);
  return id;
}
