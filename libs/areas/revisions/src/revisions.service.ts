import { Inject, Injectable } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import {
  encodeCursor,
  jsonPatch,
  rawJson,
  type PageRequest,
  type Principal,
  type RawJson,
} from '@slipway/platform-http';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { revisionErrors } from './revision.errors.js';
import { FIND_ANSWER, LIST_ANSWERS } from './revision.query.js';
import { RevisionStore } from './revision.store.js';

interface AnswerRow {
  number: number;
  json: string;
}

@Injectable()
export class RevisionsService {
  constructor(
    private readonly database: Database,
    private readonly revisions: RevisionStore,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
  ) {}

  /** Newest first. */
  list(principal: Principal, deploymentName: string, page: PageRequest): Promise<RawJson> {
    return this.database.tx({ tenantId: principal.tenantId }, async (tx) => {
      const deployment = await this.deployments.get(tx, principal.tenantId, deploymentName);
      const rows = await tx.query<AnswerRow>(LIST_ANSWERS, [
        deployment.id,
        deployment.name,
        page.cursor?.[0] ?? null,
        page.limit + 1,
      ]);
      const shown = rows.slice(0, page.limit);
      const next = rows.length > page.limit ? encodeCursor([(shown[shown.length - 1] as AnswerRow).number]) : null;
      return rawJson(`{"data":[${shown.map((row) => row.json).join(',')}],"next_cursor":${JSON.stringify(next)}}`);
    });
  }

  get(principal: Principal, deploymentName: string, reference: string): Promise<RawJson> {
    return this.database.tx({ tenantId: principal.tenantId }, async (tx) => {
      const deployment = await this.deployments.get(tx, principal.tenantId, deploymentName);
      const row = await tx.one<AnswerRow>(FIND_ANSWER, [deployment.id, deployment.name, reference]);
      if (!row) throw revisionErrors.revision_not_found();
      return rawJson(row.json);
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
