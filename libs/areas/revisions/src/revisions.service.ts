import { Inject, Injectable } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import { jsonPatch, pageOf, type PageOf, type PageRequest, type Principal } from '@slipway/platform-http';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { LessThan } from 'typeorm';
import type { RevisionDto } from './revision.dto.js';
import { RevisionEntity } from './revision.entity.js';
import { revisionErrors } from './revision.errors.js';
import { byReference, RevisionStore } from './revision.store.js';

@Injectable()
export class RevisionsService {
  constructor(
    private readonly database: Database,
    private readonly revisions: RevisionStore,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
  ) {}

  /** Newest first. */
  list(principal: Principal, deploymentName: string, { limit, cursor }: PageRequest): Promise<PageOf<RevisionDto>> {
    return this.database.tx({ tenantId: principal.tenantId }, async (tx) => {
      const { id: deploymentId, tenantId, name } = await this.deployments.get(tx, principal.tenantId, deploymentName);
      const rows = await tx
        .repository(RevisionEntity)
        .find({
          where: { tenantId, deploymentId, ...(cursor && { number: LessThan(cursor[0] as number) }) },
          order: { number: 'DESC' },
          take: limit + 1,
        });
      return pageOf(
        rows.map((row) => answerOf(name, row)),
        limit,
        ({ number }) => [number],
      );
    });
  }

  get(principal: Principal, deploymentName: string, reference: string): Promise<RevisionDto> {
    return this.database.tx({ tenantId: principal.tenantId }, async (tx) => {
      const deployment = await this.deployments.get(tx, principal.tenantId, deploymentName);
      const row = await tx.repository(RevisionEntity).findOneBy(byReference(deployment.id, reference));
      if (!row) throw revisionErrors.revision_not_found();
      return answerOf(deployment.name, row);
    });
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

function answerOf(deploymentName: string, row: RevisionEntity): RevisionDto {
  return {
    id: row.id,
    deployment: deploymentName,
    number: row.number,
    name: row.name,
    state: row.state,
    message: row.message,
    spec: row.spec,
    spec_digest: row.specDigest,
    source: row.source,
    change_ref: row.changeRef,
    created_by: row.createdBy,
    created_at: row.createdAt,
    ready_at: row.readyAt,
  };
}
