import { Inject, Injectable } from '@nestjs/common';
import { ordinalOf } from '@slipway/contracts';
import { Database, rowPage } from '@slipway/platform-database';
import { jsonPatch, rawJson, rawPage, type PageRequest, type Principal, type RawJson } from '@slipway/platform-http';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import type { RevisionFilterDto } from './revision.dto.js';
import { revisionErrors } from './revision.errors.js';
import { SHOW_REVISION, LIST_REVISIONS } from './revision.query.js';
import { RevisionStore } from './revision.store.js';

/** Higher than the number of every revision. */
const BEHIND_ALL = Number.MAX_SAFE_INTEGER;

@Injectable()
export class RevisionsService {
  constructor(
    private readonly database: Database,
    private readonly revisions: RevisionStore,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
  ) {}

  /** Newest first. The text is sent as Postgres made it. */
  async list(
    { tenantId }: Principal,
    deploymentName: string,
    { state }: RevisionFilterDto,
    { limit, cursor }: PageRequest,
  ): Promise<RawJson> {
    const deploymentId = await this.deployments.idOf(tenantId, deploymentName);
    const before = cursor ? cursor[0] : BEHIND_ALL;
    const values = [deploymentId, deploymentName, before, limit, state ?? null];
    const rows = await this.database.read<{ number: number; json: string }>({ tenantId }, LIST_REVISIONS, values);
    return rawPage(rowPage(rows), ({ number }) => [number]);
  }

  async get({ tenantId }: Principal, deploymentName: string, reference: string): Promise<RawJson> {
    const deploymentId = await this.deployments.idOf(tenantId, deploymentName);
    const values = [deploymentId, deploymentName, reference, ordinalOf(reference) ?? null];
    const [row] = await this.database.read<{ json: string }>({ tenantId }, SHOW_REVISION, values);
    if (!row) throw revisionErrors.revision_not_found();
    return rawJson(row.json);
  }

  diff(principal: Principal, deploymentName: string, from: string, to: string) {
    return this.database.tx({ tenantId: principal.tenantId }, async (tx) => {
      const deployment = await this.deployments.get(tx, principal.tenantId, deploymentName);
      const first = await this.revisions.find(tx, deployment.id, from);
      const second = await this.revisions.find(tx, deployment.id, to);
      return { from: first.name, to: second.name, patch: jsonPatch(first.spec, second.spec) };
    });
  }
}
