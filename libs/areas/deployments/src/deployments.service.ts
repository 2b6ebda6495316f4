import { Injectable } from '@nestjs/common';
import { publishRoute } from '@slipway/dataplane';
import { Database, newId, type Tx } from '@slipway/platform-database';
import {
  pageOf,
  rehearsal,
  reply,
  type ExistenceCheck,
  type PageOf,
  type PageRequest,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import {
  appendAudit,
  appendEvents,
  EventFeed,
  type EventQueryDto,
  type FeedClient,
} from '@slipway/platform-operations';
import { deploymentStream } from '@slipway/ports';
import { IsNull } from 'typeorm';
import { conditionsOf, NO_ROUTE } from './conditions.js';
import { DeploymentAnswers } from './deployment-answers.js';
import type { CreateDeploymentDto, DeploymentDto, DeploymentFilterDto } from './deployment.dto.js';
import { DeploymentEntity } from './deployment.entity.js';
import { deploymentErrors } from './deployment.errors.js';
import { GET, INSERT } from './deployment.query.js';

@Injectable()
export class DeploymentsService implements ExistenceCheck {
  constructor(
    private readonly database: Database,
    private readonly answers: DeploymentAnswers,
    private readonly feed: EventFeed,
  ) {}

  create(who: Principal, body: CreateDeploymentDto, isDryRun: boolean): Promise<Reply> {
    return this.database.tx(
      { tenantId: who.tenantId },
      async (tx) => {
        const id = await this.insert(tx, who, body);
        // The gateways learn the name at once: until there is a route they answer 503 for it, not 404.
        await publishRoute(tx, {
          tenantId: who.tenantId,
          deploymentId: id,
          deploymentName: body.name,
          generation: 0,
          targets: [],
          affinity: { mode: 'soft', ttl_seconds: 600 },
        });
        const answer = await this.find(tx, who.tenantId, body.name);
        if (isDryRun) return rehearsal(`create deployment ${body.name}`, [], [{ op: 'add', path: '', value: answer }]);
        await appendAudit(tx, {
          action: 'deployment.create',
          resourceType: 'deployment',
          resourceName: body.name,
          after: answer,
        });
        const data = { deployment_id: id, name: body.name, environment: body.environment ?? null, labels: body.labels };
        await appendEvents(tx, who.tenantId, deploymentStream(id), [
          { type: 'deployment.created', subject: `deployments/${body.name}`, data, actor: who.actor },
        ]);
        return reply(201, answer, { etag: answer.etag, location: `/api/v1/deployments/${body.name}` });
      },
      { dryRun: isDryRun },
    );
  }

  async get(who: Principal, name: string): Promise<Reply<DeploymentDto>> {
    const answer = await this.database.tx({ tenantId: who.tenantId }, (tx) => this.find(tx, who.tenantId, name));
    return reply(200, answer, { etag: answer.etag });
  }

  list(who: Principal, filter: DeploymentFilterDto, { limit, cursor }: PageRequest): Promise<PageOf<DeploymentDto>> {
    return this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      const query = tx.manager
        .createQueryBuilder(DeploymentEntity, 'd')
        .where('d.tenantId = :tenantId and d.deletedAt is null', { tenantId: who.tenantId });
      if (cursor) query.andWhere('d.id < :cursor', { cursor: cursor[0] });
      if (filter.environment) query.andWhere('d.environment = :environment', { environment: filter.environment });
      const { values, keys } = labelsOf(filter.label ?? '');
      if (Object.keys(values).length > 0) query.andWhere('d.labels @> :values', { values: JSON.stringify(values) });
      if (keys.length > 0) query.andWhere('d.labels ?& array[:...keys]', { keys });
      const { data, next_cursor } = pageOf(
        await query
          .orderBy('d.id', 'DESC')
          .limit(limit + 1)
          .getMany(),
        limit,
        (row) => [row.id],
      );
      return { data: await this.answers.of(tx, data), next_cursor };
    });
  }

  /** Events of a deployment, as a page or, for a client that accepts `text/event-stream`, as a stream. */
  async events(
    who: Principal,
    name: string,
    query: EventQueryDto,
    page: PageRequest,
    client: FeedClient,
  ): Promise<Reply | undefined> {
    return this.feed.answer({ stream: deploymentStream(await this.idOf(who.tenantId, name)) }, query, page, client);
  }

  async assertExists(tenantId: string, params: Record<string, string>): Promise<void> {
    await this.idOf(tenantId, params['name'] as string);
  }

  private async idOf(tenantId: string, name: string): Promise<string> {
    const [row] = await this.database.read<{ id: string }>({ tenantId }, GET, [tenantId, name]);
    if (!row) throw deploymentErrors.deployment_not_found();
    return row.id;
  }

  private async find(tx: Tx, tenantId: string, name: string): Promise<DeploymentDto> {
    const row = await tx.manager.findOneBy(DeploymentEntity, { tenantId, name, deletedAt: IsNull() });
    if (!row) throw deploymentErrors.deployment_not_found();
    const [answer] = await this.answers.of(tx, [row]);
    return answer as DeploymentDto;
  }

  private async insert(tx: Tx, who: Principal, body: CreateDeploymentDto): Promise<string> {
    const conditions = conditionsOf([], { state: 'creating', currentOperationId: null, health: NO_ROUTE }, new Date());
    const row = await tx.one<{ id: string }>(INSERT, [
      newId('dep'),
      who.tenantId,
      body.name,
      body.display_name ?? null,
      body.description ?? null,
      JSON.stringify(body.labels),
      body.environment ?? null,
      body.default_strategy ? JSON.stringify(body.default_strategy) : null,
      body.revision_history_limit,
      JSON.stringify(conditions),
      JSON.stringify(who.actor),
    ]);
    if (!row) throw deploymentErrors.deployment_exists({ message: `A deployment named ${body.name} exists.` });
    return row.id;
  }
}

/** `team=search,public` → labels that must have a value, and labels that must be there. */
export function labelsOf(selector: string): { values: Record<string, string>; keys: string[] } {
  const values: Record<string, string> = {};
  const keys: string[] = [];
  for (const part of selector.split(',').filter(Boolean)) {
    const at = part.indexOf('=');
    if (at < 0) keys.push(part);
    else values[part.slice(0, at)] = part.slice(at + 1);
  }
  return { values, keys };
}
