import { effectiveScaling, type EffectiveScaling, type WaitingFor } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, multiplyMoney, priceOf, type PriceConfig } from '@slipway/platform-config';
import type { Reads } from '@slipway/platform-database';
import { waitsOf } from '@slipway/platform-durable/operations';
import { etagOf } from '@slipway/platform-http';
import {
  DEPLOYMENTS,
  type DeploymentRecord,
  type DeploymentsPort,
  type DeploymentHealth,
} from '@slipway/ports/deployment-records';
import {
  INSTANCES,
  type InstancesPort,
  type LastFailedStart,
  type RevisionDrain,
  type ServingStatus,
} from '@slipway/ports/instances';
import { REVISIONS, type RevisionsPort, type RevisionSummary } from '@slipway/ports/revisions';
import { ROUTES, type Route, type RoutesPort } from '@slipway/ports/routing';
import type { DeploymentDto, FailedStartDto } from './deployment.dto.js';
import { healthOf, servingIds } from './deployment-health.js';
import { shownSettings } from './deployment-settings.js';

/** Makes the answers of this area: records of deployments with their current state in other areas. */
@Injectable()
export class DeploymentAnswers {
  constructor(
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
    @Inject(CONFIG) private readonly config: PriceConfig,
  ) {}

  async of(reads: Reads, records: readonly DeploymentRecord[]): Promise<DeploymentDto[]> {
    const ids = records
      .flatMap((record) => [record.activeRevisionId, record.candidateRevisionId, record.previousRevisionId])
      .filter((id) => id !== null);
    const operations = records.flatMap(({ currentOperationId: id }) => (id === null ? [] : [id]));
    const deploymentIds = records.map((record) => record.id);
    const [revisions, routes, waits, draining] = await Promise.all([
      this.revisions.shown(reads, [...new Set(ids)]),
      this.routes.currentOf(reads, deploymentIds),
      waitsOf(reads, operations),
      this.instances.draining(reads, deploymentIds),
    ]);
    const known = new Map(revisions.map((revision) => [revision.id, revision]));
    const active = records.flatMap(({ activeRevisionId: id }) => (id === null ? [] : [id]));
    const routed = [...routes.values()].flatMap(servingIds);
    const [serving, failedStarts] = await Promise.all([
      this.instances.serving(reads, [...new Set([...routed, ...active])]),
      this.lastFailedStarts(reads, records),
    ]);
    return records.map((record) => {
      const route = routes.get(record.id);
      const waitingFor = waits.get(record.currentOperationId ?? '') ?? null;
      const lastFailedStart = failedStarts.get(record.id) ?? null;
      const drains = draining.get(record.id) ?? [];
      const cost = this.costOf(known.get(record.activeRevisionId ?? ''), serving);
      const state = { route, health: healthOf(route, serving), waitingFor, lastFailedStart, drains, cost };
      return this.answer(record, state, known);
    });
  }

  async one(reads: Reads, record: DeploymentRecord): Promise<DeploymentDto> {
    const [answer] = await this.of(reads, [record]);
    return answer as DeploymentDto;
  }

  /** A start that failed before the last rollout or rollback that succeeded is no longer of interest. */
  private async lastFailedStarts(
    reads: Reads,
    records: readonly DeploymentRecord[],
  ): Promise<Map<string, FailedStartDto>> {
    const ids = records.map(({ id }) => id);
    const starts = await this.instances.lastFailedStarts(reads, ids);
    if (starts.size === 0) return new Map();
    const activations = await this.revisions.lastActivations(reads, [...starts.keys()]);
    const open = [...starts].filter(([id, { at }]) => at > (activations.get(id) ?? ''));
    return new Map(open.map(([id, start]) => [id, failedStartOf(start)]));
  }

  /** Only the active revision counts, so that a rollout does not change what people compare. */
  private costOf(
    active: RevisionSummary | undefined,
    serving: ReadonlyMap<string, ServingStatus>,
  ): DeploymentDto['cost'] {
    if (!active) return null;
    const { id, runtime, resources } = active;
    const { accelerator, count } = this.instances.devices({ runtime, ...(resources && { resources }) });
    if (count === 0) return null;
    const devices = count * (serving.get(id)?.running ?? 0);
    const price = priceOf(this.config, accelerator);
    return { per_hour: price && multiplyMoney(price, devices), devices, accelerator };
  }

  private answer(
    record: DeploymentRecord,
    { route, health, waitingFor, lastFailedStart, drains, cost }: CurrentState,
    revisions: ReadonlyMap<string, RevisionSummary>,
  ): DeploymentDto {
    const nameOf = (id: string | null) => (id === null ? null : (revisions.get(id)?.name ?? null));
    return {
      id: record.id,
      name: record.name,
      ...shownSettings(record),
      effective_scaling: scalingOf(record, revisions),
      draining: drainingOf(drains),
      replicas: { desired: health.desired, ready: health.ready },
      cost,
      ...this.deployments.assess(record, health),
      active_revision: nameOf(record.activeRevisionId),
      candidate_revision: nameOf(record.candidateRevisionId),
      previous_revision: nameOf(record.previousRevisionId),
      route: route ? routeOf(route) : null,
      current_operation_id: record.currentOperationId,
      waiting_for: waitingFor,
      last_failed_start: lastFailedStart,
      etag: deploymentEtag(record, route),
      created_by: record.createdBy,
      updated_by: record.updatedBy ?? record.createdBy,
      created_at: record.createdAt.toISOString(),
      updated_at: record.updatedAt.toISOString(),
    };
  }
}

/** The state of a deployment in other areas. */
interface CurrentState {
  route: Route | undefined;
  health: DeploymentHealth;
  waitingFor: WaitingFor | null;
  lastFailedStart: FailedStartDto | null;
  drains: readonly RevisionDrain[];
  cost: DeploymentDto['cost'];
}

function failedStartOf({ revision, instanceId, at, failure }: LastFailedStart): FailedStartDto {
  const { cause, message, remediation, exit_code, signal, log_tail } = failure;
  return { revision, instance_id: instanceId, at, cause, message, remediation, exit_code, signal, log_tail };
}

function drainingOf(drains: readonly RevisionDrain[]): DeploymentDto['draining'] {
  if (drains.length === 0) return null;
  return {
    requests: drains.reduce((sum, { requests }) => sum + requests, 0),
    revisions: drains.map(({ revisionName, requests, until }) => ({ revision: revisionName, requests, until })),
  };
}

function scalingOf(
  { activeRevisionId: id, scaling }: DeploymentRecord,
  revisions: ReadonlyMap<string, RevisionSummary>,
): EffectiveScaling | null {
  const active = id === null ? undefined : revisions.get(id);
  return active ? effectiveScaling(active.scaling, scaling) : null;
}

export function deploymentEtag(row: { id: string; version: number }, route: Route | undefined): string {
  return etagOf(row.id, row.version, route?.generation ?? 0);
}

function routeOf(route: Route): DeploymentDto['route'] {
  return {
    generation: route.generation,
    targets: route.targets.map((target) => ({ revision: target.revisionName, weight: target.weight })),
    affinity: { mode: route.affinity.mode, ttl_seconds: route.affinity.ttlSeconds },
  };
}
