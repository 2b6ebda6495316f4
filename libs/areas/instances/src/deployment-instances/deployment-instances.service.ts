import { Inject, Injectable } from '@nestjs/common';
import { inFlightOfInstances, readEntries } from '@slipway/dataplane';
import { Database, findPage, type Tx } from '@slipway/platform-database';
import { pageOf, type PageOf, type PageRequest, type Principal } from '@slipway/platform-http';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import { In, IsNull, LessThan, Not, type FindOptionsWhere } from 'typeorm';
import { DeviceClaimEntity } from '../devices/device.entity.js';
import type { InstanceDto, InstanceFilterDto, ShownState } from './instance.dto.js';
import { InstanceEntity } from '../workloads/instance.entity.js';
import { WorkloadEntity } from '../workloads/workload.entity.js';

/** Lists the instances of a deployment for its tenant. */
@Injectable()
export class DeploymentInstancesService {
  constructor(
    private readonly database: Database,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
  ) {}

  /** Returns the newest first: ids sort by time. */
  async list(
    { tenantId }: Principal,
    name: string,
    { revision, state }: InstanceFilterDto,
    { limit, cursor }: PageRequest,
  ): Promise<PageOf<InstanceDto>> {
    const deploymentId = await this.deployments.idOf(tenantId, name);
    return this.database.tx({ tenantId }, async (tx) => {
      const only = revision === undefined ? undefined : (await this.revisions.find(tx, deploymentId, revision)).id;
      const workloads = await workloadsOf(tx, tenantId, deploymentId, only);
      const routed = await routedRevisions(tx, deploymentId);
      const names = new Map(workloads.map((one) => [one.revision_id, one.revision_name]));
      const { rows, hasMore } = await findPage(tx, InstanceEntity, {
        where: statesOf(state).map((one) => ({
          tenant_id: tenantId,
          revision_id: In([...names.keys()]),
          ...(cursor && { id: LessThan(String(cursor[0])) }),
          ...one,
        })),
        order: { id: 'DESC' },
        limit,
      });
      const flights = await inFlightOfInstances(tx, rows);
      const claims = await tx
        .repository(DeviceClaimEntity)
        .find({
          where: { tenant_id: tenantId, instance_id: In(rows.map(({ id }) => id)) },
          order: { position: 'ASC' },
        });
      const shown = rows.map((row) => ({
        ...instanceDtoOf(row, names.get(row.revision_id) ?? '', flights.get(row.id) ?? 0),
        is_serving: row.state === 'ready' && routed.has(row.revision_id),
        devices: claims.filter((claim) => claim.instance_id === row.id).map(deviceDtoOf),
      }));
      return pageOf({ rows: shown, hasMore }, ({ id }) => [id]);
    });
  }
}

function workloadsOf(
  tx: Tx,
  tenantId: string,
  deploymentId: string,
  revisionId: string | undefined,
): Promise<WorkloadEntity[]> {
  return tx
    .repository(WorkloadEntity)
    .find({
      select: { revision_id: true, revision_name: true },
      where: {
        tenant_id: tenantId,
        deployment_id: deploymentId,
        ...(revisionId !== undefined && { revision_id: revisionId }),
      },
    });
}

/** Returns the revisions to which the published route of the deployment gives a share of the traffic. */
async function routedRevisions(tx: Tx, deploymentId: string): Promise<Set<string>> {
  const { routes } = await readEntries(tx, { routes: [deploymentId], backends: [], slugs: [], passports: [] });
  return new Set(
    routes.flatMap(({ targets }) => targets.filter(({ weight }) => weight > 0)).map((one) => one.revision_id),
  );
}

function instanceDtoOf(
  row: InstanceEntity,
  revision: string,
  flying: number,
): Omit<InstanceDto, 'devices' | 'is_serving'> {
  const { id, ordinal, reason, message, restarts, generation, target, place, drift, failure, progress } = row;
  return {
    id,
    revision,
    ordinal,
    state: shownStateOf(row),
    reason,
    message,
    restarts,
    generation,
    target,
    place,
    drift,
    in_flight: flying,
    started_at: row.started_at?.toISOString() ?? null,
    progress: progress && {
      phase: progress.phase,
      bytes: progress.bytes ?? null,
      total_bytes: progress.total_bytes ?? null,
    },
    failure: failure && {
      cause: failure.cause,
      message: failure.message,
      remediation: failure.remediation,
      exit_code: failure.exit_code,
      signal: failure.signal,
      starts: row.failed_starts,
    },
  };
}

function deviceDtoOf({ device_uuid, device_index, device_name }: DeviceClaimEntity): InstanceDto['devices'][number] {
  return { index: device_index, name: device_name, uuid: device_uuid };
}

/** Reasons of a pending instance that are shown as its state. */
const WAITS = ['waiting_for_device', 'waiting_for_place'] as const;
const isWait = (word: string | null): word is (typeof WAITS)[number] => WAITS.some((one) => one === word);

function shownStateOf({ state, reason }: InstanceEntity): ShownState {
  if (state === 'stopped' || state === 'backing_off') return 'exited';
  return state === 'pending' && isWait(reason) ? reason : state;
}

/** Returns the stored states that are shown as this one, as alternatives: the reverse of `shownStateOf`. */
function statesOf(shown: ShownState | undefined): FindOptionsWhere<InstanceEntity>[] {
  if (shown === undefined) return [{}];
  if (shown === 'exited') return [{ state: In(['stopped', 'backing_off']) }];
  if (isWait(shown)) return [{ state: 'pending', reason: shown }];
  if (shown !== 'pending') return [{ state: shown }];
  return [
    { state: 'pending', reason: IsNull() },
    { state: 'pending', reason: Not(In([...WAITS])) },
  ];
}
