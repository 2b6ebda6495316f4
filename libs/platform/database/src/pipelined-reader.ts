import pg from 'pg';
import { cut, gatherWrites, renewPlans, send, quotedTenant, type TxScope, type Statement } from './tx.js';

const TENANT_CONNECTIONS = 2;
/**
 * The most unanswered reads on one connection; further reads would wait longer than it takes to use a pooled
 * connection.
 */
const MAX_WAITING = 256;

interface SharedConnection {
  readonly role: 'slipway_system' | 'slipway_tenant';
  /** Settles once connected; undefined while there is no connection. */
  connection?: Promise<OpenConnection>;
  waiting: number;
}

interface OpenConnection {
  client: pg.Client;
  /** The tenant whose rows row-level security shows to the next statement, if `entered` does not fail. */
  tenantId?: string;
  entered?: Promise<unknown>;
}

/**
 * Sends the look-ups of many requests over few connections. They are written one after the other without waiting for
 * answers, which saves the checkout and return of a connection for each. Only statements made by `lookup()` may be sent
 * here, because a slow read delays all later ones.
 *
 * Each read is its own transaction, so a failed one does not affect its neighbours. The role of a connection is set
 * when it opens. A tenant's connection keeps the tenant of the previous read, which is most often also the next one's;
 * changing it takes a message before the read. If that message fails, the reads sent after it have seen rows of another
 * tenant, and fail with it.
 *
 * A shared connection: closed → connecting → open → closed (connection lost: all its unanswered reads fail, the next
 * one connects).
 */
export class PipelinedReader {
  private readonly system: SharedConnection = { role: 'slipway_system', waiting: 0 };
  private readonly tenants: readonly SharedConnection[] = Array.from({ length: TENANT_CONNECTIONS }, () => ({
    role: 'slipway_tenant',
    waiting: 0,
  }));

  constructor(private readonly connection: pg.ClientConfig) {}

  /**
   * Returns the rows, or undefined if all shared connections are full and the caller should take a connection of its
   * own.
   */
  async read<R>(scope: TxScope, statement: Statement, values: unknown[]): Promise<R[] | undefined> {
    const shared = scope === 'system' ? this.system : this.emptiest();
    if (shared.waiting >= MAX_WAITING) return undefined;
    shared.waiting += 1;
    try {
      shared.connection ??= this.connect(shared);
      const connection = await shared.connection;
      renewPlans(connection.client);
      if (scope === 'system') return (await send(connection.client, statement, values)).rows as R[];
      return await readAsTenant<R>(connection, scope.tenantId, statement, values);
    } catch (error) {
      // Postgres reports the end before it closes the connection; the next read must not use it in between.
      if ((error as pg.DatabaseError).severity === 'FATAL') shared.connection = undefined;
      throw error;
    } finally {
      shared.waiting -= 1;
    }
  }

  /** Closes all connections at once: their unanswered reads fail, and the next ones connect. */
  cut(): void {
    for (const shared of [this.system, ...this.tenants]) {
      void shared.connection?.then(
        ({ client }) => cut(client),
        () => undefined,
      );
      shared.connection = undefined;
    }
  }

  async close(): Promise<void> {
    const all = [this.system, ...this.tenants];
    const connections = all.map((shared) => shared.connection);
    for (const shared of all) shared.connection = undefined;
    await Promise.allSettled(connections.map(async (connection) => (await connection)?.client.end()));
  }

  private emptiest(): SharedConnection {
    return this.tenants.reduce((best, shared) => (shared.waiting < best.waiting ? shared : best));
  }

  private connect(shared: SharedConnection): Promise<OpenConnection> {
    // As a startup parameter, because a pooler that shares connections refuses it, but would pass a SET ROLE on to
    // other clients.
    const options = `-c role=${shared.role}`;
    const client = new pg.Client({ ...this.connection, options, pipeline: true } as pg.ClientConfig);
    const opening = open(client, shared.role);
    const lost = (): void => {
      if (shared.connection === opening) shared.connection = undefined;
    };
    client.on('error', lost).on('end', lost);
    opening.catch(() => {
      lost();
      void client.end().catch(() => undefined);
    });
    return opening;
  }
}

async function open(client: pg.Client, role: SharedConnection['role']): Promise<OpenConnection> {
  await client.connect();
  const { rows } = await client.query<{ role: string }>(`select current_user as role`);
  // A pooler that is configured to ignore startup parameters would pass this session's tenant to other clients.
  if (rows[0]?.role !== role) throw new Error(`Postgres did not open the session as the requested role ${role}`);
  gatherWrites(client);
  return { client };
}

async function readAsTenant<R>(
  connection: OpenConnection,
  tenantId: string,
  statement: Statement,
  values: unknown[],
): Promise<R[]> {
  if (connection.tenantId !== tenantId) enter(connection, tenantId);
  // Both are awaited even if one fails, so that nothing is in progress when the caller continues.
  const [entered, read] = await Promise.allSettled([connection.entered, send(connection.client, statement, values)]);
  for (const result of [entered, read]) if (result.status === 'rejected') throw result.reason;
  return (read as PromiseFulfilledResult<pg.QueryResult>).value.rows as R[];
}

/** Changes the tenant for all later statements. */
function enter(connection: OpenConnection, tenantId: string): void {
  const entered = connection.client.query(`SET slipway.tenant = ${quotedTenant(tenantId)}`);
  Object.assign(connection, { tenantId, entered });
  entered.catch(() => {
    if (connection.entered === entered) connection.tenantId = undefined;
  });
}
