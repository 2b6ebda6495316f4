import { rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Finding } from '../benchmarks.js';
import { cpuSecondsOf } from '../cpu-time.js';
import { HttpConnection, requestText } from '../http-connection.js';
import { asRatio, inMs, quantile } from '../measure.js';
import { movedBytesOf, rssMbOf } from '../memory.js';
import type { Stand } from '../stand.js';
import { FILL_BACKENDS, FILL_ROUTES, MOVE_INSTANCE, NOTIFY_ROUTE } from './backends.query.js';

const FEW = 100;
const CHANGES_PER_SECOND = 50;
/** Beyond all that is filled: numbers of routes that are published while a gateway follows. */
const PROBES_FROM = 1_000_000;
const SERVED_MS = 30_000;

/** What one gateway showed with so many backends. */
interface Seen {
  startMs: number;
  restartMs: number;
  rssMb: number;
  fileMb: number;
  followedMs: number[];
  idleCpu: number;
  churnCpu: number;
  churnFollowedMs: number[];
  churnReadKb: number;
  churnWrittenKb: number;
}

/** A gateway that follows 10⁴ backends against one that follows a hundred: what is there must not show in what a change costs. */
export async function backends(stand: Stand): Promise<Finding[]> {
  const many = stand.isQuick ? 2_000 : 10_000;
  // Makes the tenant and its token.
  await stand.app('api');
  const { url: upstream } = await stand.limit('upstream');
  const tenant = (await stand.admin.query<{ id: string }>('select id from tenants where is_operator')).rows[0]!.id;
  const fill = async (from: number, to: number): Promise<void> => {
    await stand.admin.query(FILL_ROUTES, [tenant, from, to]);
    await stand.admin.query(FILL_BACKENDS, [tenant, from, to, upstream]);
  };
  await fill(1, FEW);
  const limit = await follow(stand, FEW, fill);
  await fill(FEW + 1, many);
  await stand.admin.query('analyze dataplane_routes, dataplane_backends');
  const ours = await follow(stand, many, fill);
  return findings(many, ours, limit);
}

async function follow(stand: Stand, count: number, fill: (from: number, to: number) => Promise<void>): Promise<Seen> {
  const file = path.join(stand.home, 'gateway', 'snapshot.json');
  rmSync(file, { force: true });
  const cold = await start(stand);
  await delay(stand.isQuick ? 2_000 : 10_000);
  await stand.end(cold.pid);
  const { url, pid, ms } = await start(stand);
  const connection = await HttpConnection.open(url);
  const probe = new Probe(stand, connection, fill, count);
  const followedMs = await probe.times(stand.isQuick ? 10 : 30);
  const idleMs = stand.isQuick ? 3_000 : 10_000;
  const idle = await during(pid, () => delay(idleMs));
  const rssMb = rssMbOf(pid);
  const churnMs = stand.isQuick ? 5_000 : 20_000;
  let churnFollowedMs: number[] = [];
  let changes = 0;
  const churn = await during(pid, async () => {
    const end = performance.now() + churnMs;
    const probing = probe.times(stand.isQuick ? 10 : 30).then((times) => (churnFollowedMs = times));
    while (performance.now() < end) {
      const number = 1 + Math.floor(Math.random() * count);
      await Promise.all([delay(1_000 / CHANGES_PER_SECOND), stand.admin.query(MOVE_INSTANCE, [number])]);
      changes += 1;
    }
    await probing;
  });
  connection.close();
  await stand.end(pid);
  return {
    startMs: cold.ms,
    restartMs: ms,
    rssMb,
    fileMb: statSync(file).size / 2 ** 20,
    followedMs,
    idleCpu: idle.cpu,
    churnCpu: churn.cpu,
    churnFollowedMs,
    churnReadKb: churn.readKb / changes,
    churnWrittenKb: churn.writtenKb / changes,
  };
}

/** From the process's start until it serves. */
async function start(stand: Stand): Promise<{ url: string; pid: number; ms: number }> {
  const begin = performance.now();
  const { url, pid } = await stand.process('gateway');
  return { url, pid, ms: performance.now() - begin };
}

async function during(pid: number, work: () => Promise<unknown>) {
  const before = { cpu: cpuSecondsOf(pid), moved: movedBytesOf(pid), at: performance.now() };
  await work();
  const moved = movedBytesOf(pid);
  return {
    cpu: (cpuSecondsOf(pid) - before.cpu) / ((performance.now() - before.at) / 1_000),
    readKb: (moved.read - before.moved.read) / 1024,
    writtenKb: (moved.written - before.moved.written) / 1024,
  };
}

/** New routes, and how long after their notification's begin a gateway serves them. */
class Probe {
  private static next = PROBES_FROM;

  constructor(
    private readonly stand: Stand,
    private readonly connection: HttpConnection,
    private readonly fill: (from: number, to: number) => Promise<void>,
    readonly count: number,
  ) {}

  async times(rounds: number): Promise<number[]> {
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      times.push(await this.one((Probe.next += 1)));
      await delay(50 + Math.random() * 200);
    }
    return times;
  }

  private async one(number: number): Promise<number> {
    const body = JSON.stringify({ model: `bench-${number}`, messages: [{ role: 'user', content: 'Hello' }] });
    const request = requestText('POST', '/v1/chat/completions', this.stand.bearer, body);
    const begin = performance.now();
    await this.fill(number, number);
    await this.stand.admin.query(NOTIFY_ROUTE, [number]);
    while ((await this.connection.send(request)).status !== 200) {
      if (performance.now() - begin > SERVED_MS) throw new Error(`the gateway does not serve bench-${number}`);
      await delay(1);
    }
    return performance.now() - begin;
  }
}

function findings(many: number, ours: Seen, limit: Seen): Finding[] {
  const size = many.toLocaleString('en');
  const beside = `limit: the same with ${FEW} backends`;
  const row = (what: string, of: (seen: Seen) => number, as: (value: number) => string, notes: string): Finding => ({
    name: `backends: ${what}`,
    ours: as(of(ours)),
    limit: as(of(limit)),
    ratio: asRatio(of(ours) / of(limit)),
    notes: `${notes}; ${beside}`,
  });
  const inMb = (value: number): string => `${value.toFixed(1)} MB`;
  const inKb = (value: number): string => `${value.toFixed(1)} kB`;
  const inPercent = (value: number): string => `${(value * 100).toFixed(1)} %`;
  const load = `${CHANGES_PER_SECOND} changes/s`;
  return [
    row(
      `start with ${size}`,
      ({ startMs }) => startMs,
      inMs,
      'from the start of the process until it serves what Postgres says, no file there',
    ),
    row(
      'start with a file',
      ({ restartMs }) => restartMs,
      inMs,
      'as before, with the file that the gateway before it left',
    ),
    row('memory', ({ rssMb }) => rssMb, inMb, 'resident, two instances a backend'),
    row('snapshot file', ({ fileMb }) => fileMb, inMb, 'on disk'),
    row(
      'one change',
      ({ followedMs }) => quantile(followedMs, 0.5),
      inMs,
      'p50 from the write of a new route until it is served',
    ),
    row('one change, the slowest', ({ followedMs }) => quantile(followedMs, 1), inMs, 'the same'),
    row(`one change beside ${load}`, ({ churnFollowedMs }) => quantile(churnFollowedMs, 0.5), inMs, 'the same'),
    row(`the slowest beside ${load}`, ({ churnFollowedMs }) => quantile(churnFollowedMs, 1), inMs, 'the same'),
    row('processor at rest', ({ idleCpu }) => idleCpu, inPercent, 'of a core, nothing changes'),
    row(`processor at ${load}`, ({ churnCpu }) => churnCpu, inPercent, 'of a core'),
    row(
      'read for a change',
      ({ churnReadKb }) => churnReadKb,
      inKb,
      `sockets and files, at ${load}, comparisons of each second included`,
    ),
    row('written for a change', ({ churnWrittenKb }) => churnWrittenKb, inKb, `the snapshot file mostly, at ${load}`),
  ];
}
