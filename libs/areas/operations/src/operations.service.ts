import { Injectable } from '@nestjs/common';
import { sqlList, TERMINAL_STATUSES } from '@slipway/contracts';
import { Database, KEYS, lookup, rowPage, type Tx } from '@slipway/platform-database';
import {
  RequestCoalescer,
  rawJson,
  rawPage,
  type ExistenceCheck,
  type PageRequest,
  type Principal,
  type RawJson,
  type Reply,
} from '@slipway/platform-http';
import { Mutations } from '@slipway/platform-durable/mutations';
import { EventFeed, type EventQueryDto, type FeedClient } from '@slipway/platform-durable/events';
import {
  GET_OPERATION_RECORD,
  LIST_OPERATION_RECORDS,
  NEWEST_OPERATION_RECORDS,
  operationErrors,
  OperationStore,
} from '@slipway/platform-durable/operations';
import type { OperationFilterDto, PromoteOperationDto } from './operation-list.dto.js';

/** Sorts after every id of an operation, which is `op_` and hexadecimal digits, in any collation. */
const AFTER_ALL_IDS = 'op_z';

/** This query is hot: every watcher sends it when it connects and again after the stored events. */
const FIND_OPERATION_FEED_STATE = lookup(
  'operations-feed-state',
  `select id as key, stream, status in (${sqlList(TERMINAL_STATUSES)}) as "hasEnded" from operations where id = any ${KEYS} and tenant_id = $2`,
);

/** The stream with an operation's events, and whether the operation has ended. */
interface OperationFeedState {
  stream: string;
  hasEnded: boolean;
}

@Injectable()
export class OperationsService implements ExistenceCheck {
  private readonly coalescing = new RequestCoalescer();

  constructor(
    private readonly database: Database,
    private readonly mutations: Mutations,
    private readonly store: OperationStore,
    private readonly feed: EventFeed,
  ) {}

  /**
   * The hottest read of the API: one round trip, and the text is sent unchanged as Postgres made it.
   * @throws operation_not_found (404)
   */
  async get(who: Principal, id: string): Promise<RawJson> {
    const row = await this.database.find<{ json: string }>({ tenantId: who.tenantId }, GET_OPERATION_RECORD, id, [
      who.tenantId,
    ]);
    if (!row) throw operationErrors.operation_not_found();
    return rawJson(row.json);
  }

  list(
    who: Principal,
    { status, waiting_for, kind, resource_name }: OperationFilterDto,
    { limit, cursor, order = 'desc', since, until }: PageRequest,
  ): Promise<RawJson> {
    const { tenantId } = who;
    const filters = [status, kind, resource_name, waiting_for, since, until].map((filter) => filter ?? null);
    const isPlain = order === 'desc' && filters.every((filter) => filter === null);
    const statement = isPlain ? NEWEST_OPERATION_RECORDS : LIST_OPERATION_RECORDS[order];
    const past = cursor?.[0] ?? (order === 'desc' ? AFTER_ALL_IDS : '');
    const values = [tenantId, past, limit, ...(isPlain ? [] : filters)];
    return this.coalescing.answer(tenantId, [order, ...values], async () => {
      const rows = await this.database.read<{ id: string; json: string }>({ tenantId }, statement, values);
      return rawPage(rowPage(rows), (row) => [row.id]);
    });
  }

  cancel(who: Principal, id: string, reason?: string): Promise<RawJson> {
    return this.change(who, id, (tx) => this.store.cancel(tx, id, who.actor, reason));
  }

  retry(who: Principal, id: string): Promise<RawJson> {
    return this.change(who, id, (tx) => this.store.retry(tx, id, who.actor));
  }

  pause(who: Principal, id: string, reason?: string): Promise<RawJson> {
    return this.change(who, id, (tx) => this.store.pause(tx, id, who, reason));
  }

  resume(who: Principal, id: string, reason?: string): Promise<RawJson> {
    return this.decide(who, id, (tx) => this.store.resume(tx, id, who, reason));
  }

  promote(who: Principal, id: string, body: PromoteOperationDto): Promise<RawJson> {
    return this.decide(who, id, (tx) => this.store.promote(tx, id, who, body));
  }

  /**
   * Changes an operation in one transaction, and returns its new record.
   * @throws operation_not_found (404) and the errors of the change
   */
  private async change(
    who: Principal,
    id: string,
    change: (tx: Tx) => Promise<void>,
    locksAccess = false,
  ): Promise<RawJson> {
    return this.mutations.run({ principal: who, locksAccess }, async (tx) => {
      await change(tx);
      return rawJson((await this.store.record(tx, id)) as string);
    });
  }

  /** A change that may be the approval of a person. */
  private decide(who: Principal, id: string, change: (tx: Tx) => Promise<void>): Promise<RawJson> {
    return this.change(who, id, change, true);
  }

  async events(
    who: Principal,
    id: string,
    query: EventQueryDto,
    page: PageRequest,
    client: FeedClient,
  ): Promise<Reply | undefined> {
    const { stream } = await this.assertKnown(who.tenantId, id);
    // An operation that is no longer kept has ended.
    const hasEnded = async () => (await this.feedStateOf(who.tenantId, id))?.hasEnded ?? true;
    return this.feed.answer({ stream, operation: { id, hasEnded } }, query, page, client);
  }

  async assertExists(tenantId: string, params: Record<string, string>): Promise<void> {
    await this.assertKnown(tenantId, params['id'] as string);
  }

  private async assertKnown(tenantId: string, id: string): Promise<OperationFeedState> {
    const state = await this.feedStateOf(tenantId, id);
    if (!state) throw operationErrors.operation_not_found();
    return state;
  }

  private feedStateOf(tenantId: string, id: string): Promise<OperationFeedState | undefined> {
    return this.database.find<OperationFeedState>({ tenantId }, FIND_OPERATION_FEED_STATE, id, [tenantId]);
  }
}
