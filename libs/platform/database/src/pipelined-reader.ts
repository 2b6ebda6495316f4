import pg from 'pg';
import { cut } from './cut.js';
import { gatherWrites } from './gather-writes.js';
import { send } from './send.js';
import { beginText, type TxScope } from './tx.js';
import type { Statement } from './statement.js';

const TENANT_LANES = 2;
/** Reads on one lane that have not been answered; more would only wait longer than a pooled connection takes. */
const MAX_WAITING = 256;

interface Lane {
  /** Settles once connected; undefined while there is no connection. */
  client?: Promise<pg.Client>;
  waiting: number;
}

/**
 * Look-ups of many requests over few connections: they are written one behind the other without waiting for answers, which
 * spares a connection's checkout and return for each. Only statements that `lookup()` made may come here: what one read
 * waits for, all behind it wait for.
 *
 * Each read still runs in a transaction of its own, under its own role and tenant, so a failed one leaves nothing to its
 * neighbours. The system's lane has its role from the connection's start and needs no transaction around one statement.
 *
 * A lane: closed → connecting → open → closed (connection lost: all its unanswered reads fail, the next one connects).
 */
export class PipelinedReader {
  private readonly system: Lane = { waiting: 0 };
  private readonly tenants: readonly Lane[] = Array.from({ length: TENANT_LANES }, () => ({ waiting: 0 }));

  constructor(private readonly connection: pg.ClientConfig) {}

  /** The rows, or undefined if all lanes are full and the caller should take a connection of its own. */
  async read<R>(scope: TxScope, statement: Statement, values: unknown[]): Promise<R[] | undefined> {
    const lane = scope === 'system' ? this.system : this.emptiest();
    if (lane.waiting >= MAX_WAITING) return undefined;
    lane.waiting += 1;
    try {
      lane.client ??= this.connect(lane);
      const client = await lane.client;
      if (scope === 'system') return (await send(client, statement, values)).rows as R[];
      return await this.readAsTenant<R>(client, beginText(scope), statement, values);
    } catch (error) {
      // Postgres says good-bye before it closes the connection; the next read must not meet it in between.
      if ((error as pg.DatabaseError).severity === 'FATAL') lane.client = undefined;
      throw error;
    } finally {
      lane.waiting -= 1;
    }
  }

  /** Takes all connections away: their unanswered reads fail, and the next ones connect. */
  cut(): void {
    for (const lane of [this.system, ...this.tenants]) {
      void lane.client?.then(cut, () => undefined);
      lane.client = undefined;
    }
  }

  async close(): Promise<void> {
    const lanes = [this.system, ...this.tenants];
    const clients = lanes.map((lane) => lane.client);
    for (const lane of lanes) lane.client = undefined;
    await Promise.allSettled(clients.map(async (client) => (await client)?.end()));
  }

  private async readAsTenant<R>(
    client: pg.Client,
    begin: string,
    statement: Statement,
    values: unknown[],
  ): Promise<R[]> {
    // All three are awaited: an error of the first makes the second fail for its consequence only.
    const [begun, read, ended] = await Promise.allSettled([
      client.query(begin),
      send(client, statement, values),
      client.query('COMMIT'),
    ]);
    for (const result of [begun, read, ended]) if (result.status === 'rejected') throw result.reason;
    return (read as PromiseFulfilledResult<pg.QueryResult>).value.rows as R[];
  }

  private emptiest(): Lane {
    return this.tenants.reduce((best, lane) => (lane.waiting < best.waiting ? lane : best));
  }

  private connect(lane: Lane): Promise<pg.Client> {
    // As a startup parameter, because a pooler that shares connections refuses it, but would pass a SET ROLE on to others.
    const role = lane === this.system ? { options: '-c role=slipway_system' } : {};
    const client = new pg.Client({ ...this.connection, ...role, pipeline: true } as pg.ClientConfig);
    const opening = client.connect().then(() => {
      gatherWrites(client);
      return client;
    });
    const lost = (): void => {
      if (lane.client === opening) lane.client = undefined;
    };
    client.on('error', lost).on('end', lost);
    opening.catch(() => {
      lost();
      void client.end().catch(() => undefined);
    });
    return opening;
  }
}
