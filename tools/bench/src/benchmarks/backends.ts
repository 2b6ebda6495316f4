import { rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { cpuSecondsOf } from '../cpu-time.js';
import { exactFigure, figureOfSlices, type Figure, type Unit } from '../figure.js';
import { compareFigures, type Finding } from '../finding.js';
import { HttpConnection, requestText } from '../http-connection.js';
import { movedBytesOf, rssMbOf } from '../memory.js';
import type { Stand } from '../stand.js';
import { FILL_BACKENDS, FILL_ROUTES, MOVE_INSTANCE, NOTIFY_ROUTE } from './backends.query.js';

const FEW = 100;
const CHANGES_PER_SECOND = 50;
/** Numbers of routes that are published while a gateway follows; higher than all numbers that are filled. */
const PROBES_FROM = 1_000_000;
const SERVED_MS = 30_000;

/** Measurements of one gateway with this number of backends. */
interface GatewaySample {
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

/**
 * Compares a gateway that follows 10⁴ backends with one that follows a hundred: the cost of a change must not depend on
 * their number.
 */
export async function backends(stand: Stand): Promise<Finding[]> {
  const many = stand.sized(10_000, 2_000, 300);
  // Creates the tenant and its token.
  await stand.app('api');
  const { url: upstream } = await stand.limit('upstream');
  const tenant = await stand.operatorTenant();
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

async function follow(
  stand: Stand,
  count: number,
  fill: (from: number, to: number) => Promise<void>,
): Promise<GatewaySample> {
  const file = path.join(stand.home, 'gateway', 'snapshot.json');
  rmSync(file, { force: true });
  const cold = await start(stand);
  await delay(stand.sized(10_000, 2_000, 1_500));
  await stand.end(cold.pid);
  const { url, pid, ms } = await start(stand);
  const connection = await HttpConnection.open(url);
  const probe = new Probe(stand, connection, fill, count);
  const followedMs = await probe.times(stand.sized(30, 10, 2));
  const idleMs = stand.sized(10_000, 3_000, 100);
  const idle = await measureDuring(pid, () => delay(idleMs));
  const rssMb = rssMbOf(pid);
  const churnMs = stand.sized(20_000, 5_000, 300);
  let churnFollowedMs: number[] = [];
  let changes = 0;
  const churn = await measureDuring(pid, async () => {
    const end = performance.now() + churnMs;
    const probing = probe.times(stand.sized(30, 10, 2)).then((times) => (churnFollowedMs = times));
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

/** Measures from the start of the process until it serves. */
async function start(stand: Stand): Promise<{ url: string; pid: number; ms: number }> {
  const begin = performance.now();
  const { url, pid } = await stand.process('gateway');
  return { url, pid, ms: performance.now() - begin };
}

async function measureDuring(pid: number, work: () => Promise<unknown>) {
  const before = { cpu: cpuSecondsOf(pid), moved: movedBytesOf(pid), at: performance.now() };
  await work();
  const moved = movedBytesOf(pid);
  return {
    cpu: (cpuSecondsOf(pid) - before.cpu) / ((performance.now() - before.at) / 1_000),
    readKb: (moved.read - before.moved.read) / 1024,
    writtenKb: (moved.written - before.moved.written) / 1024,
  };
}

/** Publishes new routes, and measures how long after the notification starts a gateway serves them. */
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

function findings(many: number, ours: GatewaySample, limit: GatewaySample): Finding[] {
  const size = many.toLocaleString('en');
  const beside = `limit: the same with ${FEW} backends`;
  const row = (what: string, of: (seen: GatewaySample) => Figure, notes: string): Finding =>
    compareFigures(`backends: ${what}`, of(ours), of(limit), `${notes}; ${beside}`);
  const one = (what: string, unit: Unit, of: (seen: GatewaySample) => number, notes: string): Finding =>
    row(what, (seen) => exactFigure(unit, of(seen)), notes);
  const load = `${CHANGES_PER_SECOND} changes/s`;
  const kept = 'the same, with the snapshot file of the previous gateway';
  const starts = 'from the start of the process until it serves the state in Postgres, without a snapshot file';
  const moved = `sockets and files, at ${load}, including the comparisons each second`;
  return [
    one(`start with ${size}`, 'ms', ({ startMs }) => startMs, starts),
    one('start with a file', 'ms', ({ restartMs }) => restartMs, kept),
    one('memory', 'MB', ({ rssMb }) => rssMb, 'resident, two instances for each backend'),
    one('snapshot file', 'MB', ({ fileMb }) => fileMb, 'on disk'),
    row(
      'one change',
      ({ followedMs }) => figureOfSlices('ms', followedMs),
      'from the write of a new route until it is served',
    ),
    row(`one change at ${load}`, ({ churnFollowedMs }) => figureOfSlices('ms', churnFollowedMs), 'the same'),
    one('processor when idle', '%', ({ idleCpu }) => idleCpu * 100, 'of a core, without changes'),
    one(`processor at ${load}`, '%', ({ churnCpu }) => churnCpu * 100, 'of a core'),
    one('read for a change', 'kB', ({ churnReadKb }) => churnReadKb, moved),
    one('written for a change', 'kB', ({ churnWrittenKb }) => churnWrittenKb, `the snapshot file mostly, at ${load}`),
  ];
}
