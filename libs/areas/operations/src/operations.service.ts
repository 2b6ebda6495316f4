import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '@slipway/platform-database';
import {
  pageOf,
  rawJson,
  type ExistenceCheck,
  type PageRequest,
  type Principal,
  type RawJson,
  type Reply,
} from '@slipway/platform-http';
import {
  EventFeed,
  GET_RECORD,
  LIST_RECORDS,
  operationErrors,
  OperationStore,
  type EventQueryDto,
  type FeedClient,
} from '@slipway/platform-operations';
import type { OperationFilterDto } from './operation-list.dto.js';
import { STREAM } from './operation.query.js';

type Action = 'cancel' | 'retry' | 'resume';

@Injectable()
export class OperationsService implements ExistenceCheck {
  constructor(
    private readonly database: Database,
    private readonly store: OperationStore,
    private readonly feed: EventFeed,
  ) {}

  /** The hottest read of the API: one round trip, and the text goes out as Postgres made it. */
  async get(who: Principal, id: string): Promise<RawJson> {
    const [row] = await this.database.read<{ json: string }>({ tenantId: who.tenantId }, GET_RECORD, [
      id,
      who.tenantId,
    ]);
    if (!row) throw operationErrors.operation_not_found();
    return rawJson(row.json);
  }

  async list(
    who: Principal,
    { status, kind, resource_name }: OperationFilterDto,
    { limit, cursor }: PageRequest,
  ): Promise<RawJson> {
    const values = [who.tenantId, cursor?.[0] ?? null, status ?? null, kind ?? null, resource_name ?? null, limit + 1];
    const rows = await this.database.read<{ id: string; json: string }>(
      { tenantId: who.tenantId },
      LIST_RECORDS,
      values,
    );
    const { data, next_cursor } = pageOf(rows, limit, (row) => [row.id]);
    return rawJson(`{"data":[${data.map((row) => row.json).join(',')}],"next_cursor":${JSON.stringify(next_cursor)}}`);
  }

  /** Cancels, retries or resumes, and answers the record as it then stands. */
  async act(who: Principal, id: string, action: Action): Promise<RawJson> {
    const record = await this.database.tx({ tenantId: who.tenantId }, async (tx: Tx) => {
      await this.store[action](tx, id, who.actor);
      return this.store.record(tx, id);
    });
    return rawJson(record as string);
  }

  async events(
    who: Principal,
    id: string,
    query: EventQueryDto,
    page: PageRequest,
    client: FeedClient,
  ): Promise<Reply | undefined> {
    const stream = await this.streamOf(who.tenantId, id);
    return this.feed.answer({ stream, operationId: id }, query, page, client);
  }

  async assertExists(tenantId: string, params: Record<string, string>): Promise<void> {
    await this.streamOf(tenantId, params['id'] as string);
  }

  private async streamOf(tenantId: string, id: string): Promise<string> {
    const [row] = await this.database.read<{ stream: string }>({ tenantId }, STREAM, [id, tenantId]);
    if (!row) throw operationErrors.operation_not_found();
    return row.stream;
  }
}
