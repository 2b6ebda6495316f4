import { Inject, Injectable } from '@nestjs/common';
import { publishRoute } from '@slipway/dataplane';
import { CONFIG, quotasOf, type QuotaConfig } from '@slipway/platform-config';
import { Database, type Tx } from '@slipway/platform-database';
import { appendEvents, EventFeed, type EventQueryDto, type FeedClient } from '@slipway/platform-durable/events';
import {
  RequestCoalescer,
  rawPage,
  rehearsal,
  reply,
  type ExistenceCheck,
  type PageRequest,
  type Principal,
  type RawJson,
  type Reply,
} from '@slipway/platform-http';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import { OperationStore } from '@slipway/platform-durable/operations';
import { reserveQuota } from '@slipway/platform-durable/quotas';
import {
  DEPLOYMENTS,
  deploymentStream,
  type DeploymentRecord,
  type DeploymentsPort,
} from '@slipway/ports/deployment-records';
import { DeploymentAnswers } from './deployment-answers.js';
import { storedSettings } from './deployment-settings.js';
import type { CreateDeploymentDto, DeploymentDto, DeploymentFilterDto } from './deployment.dto.js';

@Injectable()
export class DeploymentsService implements ExistenceCheck {
  private readonly coalescing = new RequestCoalescer();

  constructor(
    private readonly database: Database,
    private readonly mutations: Mutations,
    private readonly answers: DeploymentAnswers,
    private readonly feed: EventFeed,
    private readonly operations: OperationStore,
    @Inject(CONFIG) private readonly config: QuotaConfig,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
  ) {}

  create(who: Principal, body: CreateDeploymentDto, isDryRun: boolean): Promise<Reply> {
    return this.mutations.run({ principal: who, isDryRun }, async (tx) => {
      const record = await this.insert(tx, who, body);
      const location = `/api/v1/deployments/${record.name}`;
      // Idempotency keys of an earlier deployment of this name do not apply to this one.
      await this.operations.forgetKeys(tx, who.tenantId, location);
      // The gateways receive the name at once. Until there is a route, they answer 503 for it instead of 404.
      await publishRoute(tx, {
        tenantId: who.tenantId,
        deploymentId: record.id,
        deploymentName: record.name,
        generation: 0,
        targets: [],
        affinity: { mode: 'soft', ttl_seconds: 600 },
        mediaUrls: record.mediaUrls,
      });
      const answer = await this.answers.one(tx, record);
      if (isDryRun) return rehearsal(`create deployment ${body.name}`, [], [{ op: 'add', path: '', value: answer }]);
      await appendAudit(tx, {
        action: 'deployment.create',
        resourceType: 'deployment',
        resourceName: body.name,
        after: answer,
      });
      const { id, name, environment, labels } = record;
      await appendEvents(tx, who.tenantId, deploymentStream(id), [
        {
          type: 'deployment.created',
          subject: `deployments/${name}`,
          data: { deployment_id: id, name, environment, labels },
          actor: who.actor,
        },
      ]);
      return reply(201, answer, { etag: answer.etag, location });
    });
  }

  async get(who: Principal, name: string): Promise<Reply<DeploymentDto>> {
    const reads = this.database.lookups({ tenantId: who.tenantId });
    const answer = await this.answers.one(reads, await this.deployments.record(reads, who.tenantId, name));
    return reply(200, answer, { etag: answer.etag });
  }

  list({ tenantId }: Principal, filter: DeploymentFilterDto, page: PageRequest): Promise<RawJson> {
    const { environment, label, state, q } = filter;
    const { limit, cursor, order, since, until } = page;
    const question = [environment, label, state, q, cursor?.[0], limit, order, since, until];
    return this.coalescing.answer(tenantId, question, () => this.page(tenantId, filter, page));
  }

  private async page(
    tenantId: string,
    { label = '', ...filter }: DeploymentFilterDto,
    { cursor, limit, order = 'desc', since, until }: PageRequest,
  ): Promise<RawJson> {
    const reads = this.database.lookups({ tenantId });
    const past = cursor?.[0] as string | undefined;
    const asked = { ...filter, ...labelsOf(label), order, since, until };
    const isPlain = order === 'desc' && label === '' && [...Object.values(filter), since, until].every(isAbsent);
    const { rows, hasMore } = isPlain
      ? await this.deployments.newest(reads, tenantId, past, limit)
      : await this.database.tx({ tenantId }, (tx) => this.deployments.list(tx, tenantId, { ...asked, past, limit }));
    const answers = await this.answers.of(reads, rows);
    const texts = answers.map((answer) => ({ id: answer.id, json: JSON.stringify(answer) }));
    return rawPage({ rows: texts, hasMore }, ({ id }) => [id]);
  }

  /** Returns events of a deployment as a page or, to a client that accepts `text/event-stream`, as a stream. */
  async events(
    who: Principal,
    name: string,
    query: EventQueryDto,
    page: PageRequest,
    client: FeedClient,
  ): Promise<Reply | undefined> {
    const stream = deploymentStream(await this.deployments.idOf(who.tenantId, name));
    return this.feed.answer({ stream }, query, page, client);
  }

  async assertExists(tenantId: string, params: Record<string, string>): Promise<void> {
    await this.deployments.idOf(tenantId, params['name'] as string);
  }

  private async insert(tx: Tx, who: Principal, body: CreateDeploymentDto): Promise<DeploymentRecord> {
    const { tenantId, tenantName } = who;
    const limit = quotasOf(this.config, tenantName).deployments;
    // A deployment of the same name does not count, so that the answer is that it exists, not that the quota is full.
    const others = () => this.deployments.countOthers(tx, tenantId, body.name);
    await reserveQuota(tx, { tenantId, quota: 'deployments', limit }, others);
    return this.deployments.create(tx, {
      tenantId: who.tenantId,
      name: body.name,
      ...storedSettings(body),
      createdBy: who.actor,
    });
  }
}

const isAbsent = (value: unknown): boolean => value === undefined;

/** Parses `team=search,public` into labels with a value and labels that only must exist. */
export function labelsOf(selector: string): { labels: Record<string, string>; labelKeys: string[] } {
  const labels: Record<string, string> = {};
  const labelKeys: string[] = [];
  for (const part of selector.split(',').filter(Boolean)) {
    const at = part.indexOf('=');
    if (at < 0) labelKeys.push(part);
    else labels[part.slice(0, at)] = part.slice(at + 1);
  }
  return { labels, labelKeys };
}
