import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import { EventFeed, type FeedClient } from '@slipway/platform-durable/events';
import { ReadAudit } from '@slipway/platform-durable/mutations';
import { reply, type ExistenceCheck, type Principal, type Reply } from '@slipway/platform-http';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import type { LogLine } from '@slipway/target-driver';
import { TargetCatalog } from '../catalog/target-catalog.js';
import { InstanceEntity } from '../workloads/instance.entity.js';
import { WorkloadEntity } from '../workloads/workload.entity.js';
import { instanceErrors } from './instance.errors.js';
import type { LogQueryDto } from './log-query.dto.js';
import { LogReader } from './log-reader.js';
import type { LogQuery } from './log-reading.entity.js';

/** Limit for a client to read the requested lines. A client that wants new lines as well uses `follow`. */
const TEXT_LIMIT_MS = 120_000;

/** Returns the output of an instance, as text or as a stream that stays open. */
@Injectable()
export class InstanceLogsService implements ExistenceCheck {
  constructor(
    private readonly database: Database,
    private readonly catalog: TargetCatalog,
    private readonly reader: LogReader,
    private readonly audit: ReadAudit,
    private readonly feed: EventFeed,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
  ) {}

  /**
   * @returns the lines, or undefined if the response has become a stream
   * @throws instance_not_found (404), logs_not_kept (409), logs_unavailable (503), quota_exceeded (429)
   */
  async logs(
    { tenantId }: Principal,
    params: { name: string; id: string },
    query: LogQueryDto,
    client: FeedClient,
  ): Promise<Reply<Readable> | undefined> {
    const instance = await this.find(tenantId, params);
    const driver = this.catalog.find(instance.target)?.driver;
    if (driver && !driver.logs) throw instanceErrors.logs_not_kept();
    this.audit.record({ tenantId, action: 'logs.read', resourceType: 'instance', resourceName: instance.id });
    const { tail, stream, previous, follow } = query;
    const since = sinceOf(query, Date.now());
    const asked = { tail, stream, previous, follow, ...(since !== undefined && { since }) };
    if (!follow) return this.text(instance, asked, client);
    return this.feed.stream(client, async (signal) => eventsOf(await this.reader.open(instance, asked, signal)));
  }

  async assertExists(tenantId: string, { name, id }: Record<string, string>): Promise<void> {
    await this.find(tenantId, { name: String(name), id: String(id) });
  }

  /** Returns the lines as text. A slow reader slows the worker down; a reader that disconnects ends the reading. */
  private async text(instance: InstanceEntity, asked: LogQuery, client: FeedClient): Promise<Reply<Readable>> {
    const headers = {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    };
    // A server that was never started has written nothing, so no worker is needed.
    if (instance.state === 'pending' && instance.generation === 1) return reply(200, Readable.from([]), headers);
    const giveBack = this.feed.reserveStream(client);
    const ended = new AbortController();
    ended.signal.addEventListener('abort', giveBack, { once: true });
    const source = await this.reader.open(instance, asked, ended.signal).catch((error: unknown) => {
      ended.abort();
      throw error;
    });
    const lines = Readable.from(textOf(source));
    const limit = setTimeout(() => lines.destroy(new Error('the reader took too long')), TEXT_LIMIT_MS);
    lines.on('close', () => {
      clearTimeout(limit);
      ended.abort();
    });
    return reply(200, lines, headers);
  }

  private async find(tenantId: string, { name, id }: { name: string; id: string }): Promise<InstanceEntity> {
    const deploymentId = await this.deployments.idOf(tenantId, name);
    return this.database.tx({ tenantId }, async (tx) => {
      const instance = await tx.repository(InstanceEntity).findOneBy({ tenant_id: tenantId, id });
      const isOfDeployment =
        instance &&
        (await tx
          .repository(WorkloadEntity)
          .existsBy({ tenant_id: tenantId, revision_id: instance.revision_id, deployment_id: deploymentId }));
      if (!isOfDeployment) throw instanceErrors.instance_not_found();
      return instance;
    });
  }
}

/** Returns the time of the oldest requested output (RFC 3339), the later one if the query names two. */
export function sinceOf(
  { since, since_seconds: seconds }: Pick<LogQueryDto, 'since' | 'since_seconds'>,
  nowMs: number,
): string | undefined {
  if (seconds === undefined) return since;
  const last = nowMs - seconds * 1_000;
  return since !== undefined && Date.parse(since) > last ? since : new Date(last).toISOString();
}

async function* eventsOf(lines: AsyncIterable<LogLine>): AsyncGenerator<{ type: string; data: unknown }> {
  for await (const { stream, at, text } of lines) yield { type: stream, data: { at: at ?? null, text } };
}

async function* textOf(lines: AsyncIterable<LogLine>): AsyncGenerator<string> {
  for await (const { text } of lines) yield `${text}\n`;
}
