import net from 'node:net';
import pg from 'pg';
import type { Config } from '@slipway/platform-config/load';
import {
  networkFault,
  oneLine,
  reach,
  StartupError,
  type ReachOptions,
  type ServiceFault,
} from '@slipway/platform-config/startup';

/** Longer than a busy server takes to accept a connection. */
const ANSWER_MS = 5_000;
const OLDEST = 14;
/** SSLRequest of the protocol; every Postgres answers it with one byte. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** The logins that a configuration may hold, and the variable of each. */
const VARIABLES = {
  url: 'DATABASE_URL',
  migrateUrl: 'SLIPWAY_MIGRATE_DATABASE_URL',
  gatewayUrl: 'SLIPWAY_GATEWAY_DATABASE_URL',
} as const;

export interface ReachPostgresOptions extends Omit<ReachOptions, 'variable'> {
  /** Which login to use; by default that of api and worker. */
  login?: keyof typeof VARIABLES;
  /**
   * Checks what else the database must contain, each time it answers. A StartupError ends the waiting; other failures
   * are waited out.
   */
  check?(url: string): Promise<void>;
}

/**
 * Waits for Postgres as a start does (`reach`), without Nest.
 * @throws StartupError that names the variable to change
 */
export async function reachPostgres(database: Config['database'], options: ReachPostgresOptions): Promise<void> {
  const { login = 'url', check } = options;
  const url = database[login];
  // A login without a variable of its own is that of DATABASE_URL.
  const variable = url === database.url ? VARIABLES.url : VARIABLES[login];
  const look = async (): Promise<ServiceFault | undefined> => {
    const fault = await postgresFault(url, variable);
    if (fault || !check) return fault;
    try {
      await check(url);
      return undefined;
    } catch (error) {
      if (error instanceof StartupError) throw error;
      return { kind: 'away', text: `Postgres does not respond as expected (${oneLine(error)}).` };
    }
  };
  await reach(look, { ...options, variable });
}

/** Says why this address cannot be used as a database; undefined if it can. Takes at most about ten seconds. */
export async function postgresFault(url: string, variable = 'DATABASE_URL'): Promise<ServiceFault | undefined> {
  let client: pg.Client;
  try {
    client = new pg.Client({ connectionString: url, connectionTimeoutMillis: ANSWER_MS, query_timeout: ANSWER_MS });
  } catch (error) {
    return refused(
      `the URL is invalid (${oneLine(error)}). Correct ${variable}: percent-encode special characters of the user name and the password.`,
    );
  }
  // If a connection breaks while it is closed, the query has already reported it.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query(`select current_setting('server_version_num')::int as version`);
    const version = Math.floor(rows[0].version / 10_000);
    if (version >= OLDEST) return undefined;
    return refused(`${addressOf(client)} is Postgres ${version}; Slipway requires ${OLDEST} or newer.`);
  } catch (error) {
    return faultOf(error as pg.DatabaseError, client, variable) ?? (await strangerAt(client, variable, error));
  } finally {
    void client.end().catch(() => undefined);
  }
}

function refused(text: string): ServiceFault {
  return { kind: 'refused', text };
}

function addressOf({ host, port }: pg.Client): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function faultOf(error: pg.DatabaseError, client: pg.Client, variable: string): ServiceFault | undefined {
  const address = addressOf(client);
  const { user, database } = client;
  switch (error.code) {
    case '28P01':
      return refused(`Postgres at ${address} rejected the password of user ${user}. Correct ${variable}.`);
    case '28000':
      return refused(
        `Postgres at ${address} rejected user ${user} (${oneLine(error)}). Correct ${variable}, or create that user.`,
      );
    case '3D000':
      return refused(`Postgres at ${address} has no database ${database}. Create it, or correct ${variable}.`);
    case '42501':
      return refused(
        `user ${user} has no permission to use database ${database} at ${address} (${oneLine(error)}). Grant it, or correct ${variable}.`,
      );
    case '57P03':
      return { kind: 'away', text: `Postgres at ${address} is not ready (${oneLine(error)}).` };
    case '53300':
      return {
        kind: 'away',
        text: `Postgres at ${address} has no free connection (${oneLine(error)}). Raise its max_connections, or stop other clients.`,
      };
  }
  const network = networkFault(error, address, variable);
  if (network) return network;
  if (/password must be a (non-empty )?string/i.test(error.message))
    return refused(`Postgres at ${address} requires a password for user ${user}. Add it to ${variable}.`);
  if (/SSL|certificate|self[- ]signed/i.test(`${error.message} ${error.code}`))
    return refused(`TLS with Postgres at ${address} failed (${oneLine(error)}). Correct sslmode in ${variable}.`);
  // Postgres refused with an error code of its own, which it would return again.
  return error instanceof pg.DatabaseError && /^(0|22|28|3D|42)/.test(error.code ?? '')
    ? refused(`Postgres at ${address} returned an error: ${oneLine(error)}. Correct ${variable}.`)
    : undefined;
}

/** The client waits for an answer that it understands. This sends the same request again and examines any answer. */
async function strangerAt(client: pg.Client, variable: string, error: unknown): Promise<ServiceFault> {
  const address = addressOf(client);
  const answer = await answerToTlsQuestion(client.host, client.port);
  if (answer === 'N' || answer === 'S')
    return { kind: 'away', text: `the connection to Postgres at ${address} failed (${oneLine(error)}).` };
  if (answer === undefined || answer === '')
    return {
      kind: 'away',
      text: `${address} accepts the connection but does not respond like Postgres. Start Postgres there, or correct ${variable}.`,
    };
  return refused(`the server at ${address} is not Postgres. Correct ${variable}.`);
}

/** Empty: closed without an answer; undefined: silence. */
function answerToTlsQuestion(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port });
    const done = (answer: string | undefined): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => socket.write(SSL_REQUEST));
    // Then a line end: a server that reads lines answers it with an error.
    socket.setTimeout(1_000).on('timeout', () => {
      if (socket.bytesWritten > SSL_REQUEST.length) done(undefined);
      else socket.write('\r\n\r\n');
    });
    socket.once('data', (data) => done(data.toString('latin1', 0, 1)));
    socket.once('error', () => done(''));
    socket.once('close', () => done(''));
  });
}
