import pg from 'pg';
import { cut } from './cut.js';
import { gatherWrites } from './gather-writes.js';
import { renewPlans } from './renew-plans.js';
import { send } from './send.js';
import { quotedTenant, type TxScope } from './tx.js';
import type { Statement } from './statement.js';

const TENANT_LANES = 2;
/** Reads on one lane that have not been answered; more would only wait longer than a pooled connection takes. */
const MAX_WAITING = 256;

interface Lane {
  readonly role: 'slipway_system' | 'slipway_tenant';
  /** Settles once connected; undefined while there is no connection. */
  connection?: Promise<Connection>;
  waiting: number;
}

interface Connection {
  client: pg.Client;
  /** Whose rows row-level security shows to what is sent next, if `entered` does not fail. */
  tenantId?: string;
  entered?: Promise<unknown>;
}

/**
 * Look-ups of many requests over few connections: they are written one behind the other without waiting for answers, which
 * spares a connection's checkout and return for each. Only statements that `lookup()` made may come here: what one read
 * waits for, all behind it wait for.
 *
 * Each read is a transaction of its own, so a failed one leaves nothing to its neighbours. A lane has its role from the connection's
 * start. A tenant's lane keeps the tenant of the read before, which most often is this one's too; to go over to another takes a message
 * in front of the read. Where that one fails, what was sent behind it has seen rows of somebody else, and fails with it.
 *
 * A lane: closed → connecting → open → closed (connection lost: all its unanswered reads fail, the next one connects).
 */
export class PipelinedReader {
  private readonly system: Lane = { role: 'slipway_system', waiting: 0 };
  private readonly tenants: readonly Lane[] = Array.from({ length: TENANT_LANES }, () => ({
    role: 'slipway_tenant',
    waiting: 0,
  }));

  constructor(private readonly connection: pg.ClientConfig) {}

  /** The rows, or undefined if all lanes are full and the caller should take a connection of its own. */
  async read<R>(scope: TxScope, statement: Statement, values: unknown[]): Promise<R[] | undefined> {
    const lane = scope === 'system' ? this.system : this.emptiest();
    if (lane.waiting >= MAX_WAITING) return undefined;
    lane.waiting += 1;
    try {
      lane.connection ??= this.connect(lane);
      const connection = await lane.connection;
      renewPlans(connection.client);
      if (scope === 'system') return (await send(connection.client, statement, values)).rows as R[];
      return await readAsTenant<R>(connection, scope.tenantId, statement, values);
    } catch (error) {
      // Postgres says good-bye before it closes the connection; the next read must not meet it in between.
      if ((error as pg.DatabaseError).severity === 'FATAL') lane.connection = undefined;
      throw error;
    } finally {
      lane.waiting -= 1;
    }
  }

  /** Takes all connections away: their unanswered reads fail, and the next ones connect. */
  cut(): void {
    for (const lane of [this.system, ...this.tenants]) {
      void lane.connection?.then(
        ({ client }) => cut(client),
        () => undefined,
      );
      lane.connection = undefined;
    }
  }

  async close(): Promise<void> {
    const lanes = [this.system, ...this.tenants];
    const connections = lanes.map((lane) => lane.connection);
    for (const lane of lanes) lane.connection = undefined;
    await Promise.allSettled(connections.map(async (connection) => (await connection)?.client.end()));
  }

  private emptiest(): Lane {
    return this.tenants.reduce((best, lane) => (lane.waiting < best.waiting ? lane : best));
  }

  private connect(lane: Lane): Promise<Connection> {
    // As a startup parameter, because a pooler that shares connections refuses it, but would pass a SET ROLE on to others.
    const options = `-c role=${lane.role}`;
    const client = new pg.Client({ ...this.connection, options, pipeline: true } as pg.ClientConfig);
    const opening = open(client, lane.role);
    const lost = (): void => {
      if (lane.connection === opening) lane.connection = undefined;
    };
    client.on('error', lost).on('end', lost);
    opening.catch(() => {
      lost();
      void client.end().catch(() => undefined);
    });
    return opening;
  }
}

async function open(client: pg.Client, role: Lane['role']): Promise<Connection> {
  await client.connect();
  const { rows } = await client.query<{ role: string }>(`select current_user as role`);
  // A pooler that was told to ignore startup parameters would hand this session's tenant to others.
  if (rows[0]?.role !== role) throw new Error(`Postgres was asked for a session of ${role} and gave another`);
  gatherWrites(client);
  return { client };
}

async function readAsTenant<R>(
  connection: Connection,
  tenantId: string,
  statement: Statement,
  values: unknown[],
): Promise<R[]> {
  if (connection.tenantId !== tenantId) enter(connection, tenantId);
  // Both are awaited, whichever fails, so that nothing is under way when the caller goes on.
  const [entered, read] = await Promise.allSettled([connection.entered, send(connection.client, statement, values)]);
  for (const result of [entered, read]) if (result.status === 'rejected') throw result.reason;
  return (read as PromiseFulfilledResult<pg.QueryResult>).value.rows as R[];
}

/** Goes over to a tenant, for what is sent from now on. */
function enter(connection: Connection, tenantId: string): void {
  const entered = connection.client.query(`SET slipway.tenant = ${quotedTenant(tenantId)}`);
  Object.assign(connection, { tenantId, entered });
  entered.catch(() => {
    if (connection.entered === entered) connection.tenantId = undefined;
  });
}
