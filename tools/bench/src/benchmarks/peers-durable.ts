import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { skippedFinding, type Finding } from '../finding.js';
import { NotHere, npmFolder, whyNot, programIn, startServer } from '../peers.js';
import { startRedis } from '../redis.js';
import { freePort, type Stand } from '../stand.js';
import { compareEngines, type DurableEngine } from './durable.js';
import { startOurEngine, STEPS_TABLE } from './operations.js';

const DATABASE = 'bench_peers';

/** A peer that has been started. */
interface PeerProcess extends DurableEngine {
  stop(): Promise<void> | void;
}

interface Peer {
  notes: string;
  start(stand: Stand, databaseUrl: string): Promise<PeerProcess>;
}

const COMMITS = 'one job for each operation; its five steps are committed to the same Postgres';

const PEERS: Record<string, Peer> = {
  'graphile-worker': {
    notes: COMMITS,
    start: (stand, databaseUrl) => startPackaged(stand, 'graphile-worker', [databaseUrl, 'default']),
  },
  'graphile-worker tuned': {
    notes: `${COMMITS}; local queue, completes in batches`,
    start: (stand, databaseUrl) => startPackaged(stand, 'graphile-worker', [databaseUrl, 'tuned']),
  },
  'pg-boss': { notes: COMMITS, start: (stand, databaseUrl) => startPackaged(stand, 'pg-boss', [databaseUrl]) },
  DBOS: {
    notes: 'a workflow of five steps on the same Postgres, called directly',
    start: (stand, databaseUrl) => startPackaged(stand, 'dbos', [databaseUrl], ['@dbos-inc/dbos-sdk']),
  },
  Restate: { notes: 'a handler of five steps, in the log of its own server', start: restate },
  'BullMQ on Postgres': {
    notes: COMMITS,
    start: (stand, databaseUrl) => startPackaged(stand, 'bullmq', [databaseUrl, 'postgres'], ['bullmq', 'ioredis']),
  },
  'BullMQ on Redis': { notes: COMMITS, start: bullmqOnRedis },
};

/**
 * Compares five durable steps with other durable engines: each peer takes turns with ours, with the queue on Postgres.
 */
export async function peersDurable(stand: Stand): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [name, { notes, start }] of Object.entries(PEERS)) {
    const title = `peers: ${name}`;
    let peer: PeerProcess | undefined;
    try {
      peer = await start(stand, await createEmptyDatabase(stand));
      findings.push(
        ...(await compareEngines(stand, title, { ours: await startOurEngine(stand), limit: peer }, `limit: ${notes}`)),
      );
    } catch (error) {
      findings.push(skippedFinding(title, whyNot(title, error)));
    } finally {
      await stand.clear().finally(() => peer?.stop());
    }
  }
  return findings;
}

/**
 * Separate from the product's database, on the same server with its settings, and with the table of steps.
 * @returns its address
 */
async function createEmptyDatabase(stand: Stand): Promise<string> {
  await stand.admin.query(`drop database if exists ${DATABASE} with (force)`);
  await stand.admin.query(`create database ${DATABASE}`);
  const url = new URL(stand.adminUrl);
  url.pathname = `/${DATABASE}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(STEPS_TABLE).finally(() => client.end());
  return url.href;
}

async function startPackaged(stand: Stand, program: string, args: string[], names = [program]): Promise<PeerProcess> {
  const folder = await npmFolder(...names, 'pg');
  const { child } = await stand.program(programIn(folder, `${program}.mjs`), args);
  return { child, servers: [stand.postgres.pid], stop: () => undefined };
}

async function bullmqOnRedis(stand: Stand, databaseUrl: string): Promise<PeerProcess> {
  const redis = await startRedis();
  if (!redis) throw new NotHere('redis-server is not on the PATH, or failed to start');
  const started = await startPackaged(stand, 'bullmq', [databaseUrl, 'redis', redis.url], ['bullmq', 'ioredis']);
  return { ...started, servers: [stand.postgres.pid, redis.pid], stop: redis.stop };
}

async function restate(stand: Stand, databaseUrl: string): Promise<PeerProcess> {
  const folder = await npmFolder('@restatedev/restate-sdk', '@restatedev/restate-server', 'pg');
  const [ingress, admin, node, handler] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const home = mkdtempSync(path.join(tmpdir(), 'slipway-restate-'));
  const binary = path.join(
    folder,
    'node_modules/@restatedev',
    `restate-server-${process.platform}-${process.arch}`,
    'bin/restate-server',
  );
  const server = await startServer(
    [binary, '--listen-mode', 'tcp', '--bind-ip', '127.0.0.1', '--bind-port', String(node), '--no-logo'],
    `http://127.0.0.1:${admin}/health`,
    {
      RESTATE_BASE_DIR: home,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
      RESTATE_DISABLE_TELEMETRY: 'true',
    },
  );
  const addresses = [`http://127.0.0.1:${ingress}`, `http://127.0.0.1:${admin}`, String(handler)];
  const stop = async (): Promise<void> => {
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  };
  try {
    const { child } = await stand.program(programIn(folder, 'restate.mjs'), [databaseUrl, ...addresses]);
    return { child, servers: [server.pid], stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
