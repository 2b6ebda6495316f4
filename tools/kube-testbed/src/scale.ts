import { setTimeout as delay } from 'node:timers/promises';
import { countsOf, isWrite } from './scale/audit-log.js';
import { bedPace } from './scale/bed-pace.js';
import { Churn } from './scale/churn.js';
import { Bounds, print, quantile, reporting, seconds } from './scale/measure.js';
import { Product, type Worker } from './scale/product.js';
import { Publications } from './scale/publications.js';
import { ScaleBed } from './scale/scale-bed.js';
import type { Sightings } from './scale/sightings.js';
import { eventually } from './waiting.js';
import { parseArgs } from 'node:util';

// Runs workers of the product with many deployments on a target, on KWOK nodes: npm run kube:scale -- [deployments]
// [options]
// Prints a line of JSON for each figure with a limit as soon as it is measured, for each part, and every ten seconds
// for the progress. The first line measures the bed itself. Exit status 1: a limit was exceeded, or the time was over.

const USAGE = `npm run kube:scale -- [deployments, 1000] [--replicas 2] [--nodes 20] [--workers 2] [--steady 60] [--churn 300] [--per-second 50] [--bed-units 200] [--minutes 20]
--steady: seconds without changes. --churn: seconds in which random pods and units are deleted. 0 skips a part. --minutes: time limit of the run.\n`;

const DEFAULTS = {
  replicas: 2,
  nodes: 20,
  workers: 2,
  steady: 60,
  churn: 300,
  'per-second': 50,
  'bed-units': 200,
  minutes: 20,
};

type ScaleOptions = typeof DEFAULTS & { deployments: number };

/** Ends the process with a message if the arguments are invalid. */
function readOptions(): ScaleOptions {
  try {
    const names = Object.keys(DEFAULTS).map((name) => [name, { type: 'string' as const }] as const);
    const { values, positionals } = parseArgs({ allowPositionals: true, options: Object.fromEntries(names) });
    const given = Object.entries(values).map(([name, value]) => [name, Number(value)] as const);
    const read = { ...DEFAULTS, ...Object.fromEntries(given), deployments: Number(positionals[0] ?? 1_000) };
    if (positionals.length > 1 || Object.values(read).some((value) => !(value >= 0)))
      throw new Error('every option must be a number, at least 0');
    return read;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${USAGE}`);
    process.exit(64);
  }
}

/** Enough for running work to end, and for Postgres and the API server to write their statistics. */
const SETTLE_MS = 10_000;
const HEARD_MS = 1_000;
const REPORT_MS = 10_000;
/** Reserved for the time after the churn: each pod may have to be created once more. */
const AFTER_CHURN_MS = 60_000;
const AFTER_CHURN_MS_EACH = 150;
/** Timers are late on a busy machine, so this share of the requested rate is sufficient. */
const ON_TIME = 0.95;

const asked = readOptions();
const endAt = performance.now() + asked.minutes * 60_000;
const leftMs = () => Math.max(1_000, endAt - performance.now());
const instances = asked.deployments * asked.replicas;
const bounds = new Bounds();
const bed = await ScaleBed.start(asked.nodes);
const product = await Product.start();
let publications: Publications | undefined;
let ending: Promise<void> | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void end().finally(() => process.exit(130)));
try {
  if (asked['bed-units'] > 0) print(await bedPace(bed, asked['bed-units']));
  publications = await Publications.follow(bed.client, bed.namespace, product.adminUrl);
  const { seen } = publications;
  const leader = await startWorker('worker-1');
  const others: Worker[] = [];
  for (let at = 2; at <= asked.workers; at += 1) others.push(await startWorker(`worker-${at}`));
  print(await startAll(seen, leader));
  if (asked.steady > 0) print(await steady([leader, ...others]));
  if (asked.churn > 0) print(await churn(seen, leader));
  print(await takeOver(leader, others.length > 0));
} finally {
  await end();
}

function end(): Promise<void> {
  const endAll = async () => {
    print({ missed: bounds.missed });
    process.exitCode = bounds.missed.length > 0 ? 1 : 0;
    await publications?.close();
    await product.close();
    await bed.stop();
  };
  return (ending ??= endAll());
}

async function startWorker(name: string): Promise<Worker> {
  const { kubeconfig } = await bed.grant(name);
  return product.worker({ name, kubeconfig, namespace: bed.namespace, mostInstances: instances });
}

/**
 * Measures from the commit that requests all instances until all gateways have them. Each unit must have been created
 * exactly once.
 */
async function startAll(seen: Sightings, leader: Worker): Promise<object> {
  const began = Date.now();
  const made = () =>
    bed.audit.since(began).filter(({ verb, resource }) => verb === 'create' && resource === 'deployments');
  const progress = () => ({ so_far: 'start', units: made().length, ...stateOf(seen, leader) });
  const took = { units: 0, pods: 0, published: 0 };
  await reporting(progress, REPORT_MS, async () => {
    await product.deploy(asked.deployments, asked.replicas);
    took.units = await seconds(() => eventually('all units are there', () => made().length >= instances, leftMs()));
    bounds.note('all_units_s', took.units, { most: 120 });
    took.pods = await seconds(() => eventually('all pods are ready', () => seen.pods.size === instances, leftMs()));
    took.published = await seconds(() => allPublished(seen));
  });
  const twice = made().filter(({ status }) => status === 409).length;
  bounds.note('units_made_twice', twice, { most: 0 });
  return {
    part: 'start',
    deployments: asked.deployments,
    replicas: asked.replicas,
    workers: asked.workers,
    all_units_s: took.units,
    all_pods_ready_s: took.units + took.pods,
    all_published_s: took.units + took.pods + took.published,
    pods_with_a_second_address: seen.readdressed,
    ...waitsOf('start', seen),
    units_made: made().filter(({ status }) => status < 300).length,
    makers: [...new Set(made().map(({ user }) => user))],
    leader_cpu_s: leader.cpuSeconds,
    leader_rss_mb: leader.rssMb,
    leader_most_rss_mb: leader.mostRssMb,
  };
}

/** Nothing changes: measures the cost of checking that. */
async function steady(workers: readonly Worker[]): Promise<object> {
  await delay(SETTLE_MS);
  const began = Date.now();
  const changes = await product.changes();
  const before = workers.map(({ cpuSeconds }) => cpuSeconds);
  await delay(asked.steady * 1_000);
  const calls = bed.audit.since(began);
  const cpu = workers.map(({ cpuSeconds }, at) => ((cpuSeconds - before[at]!) / asked.steady) * 100);
  const rss = workers.map(({ rssMb }) => rssMb);
  const rowChanges = (await product.changes()) - changes;
  bounds.note('steady_cpu_percent', Math.max(...cpu), { most: 25 });
  bounds.note('steady_rss_mb', Math.max(...rss), { most: 400 });
  bounds.note('steady_lists', calls.filter(({ verb }) => verb === 'list').length, { most: 0 });
  bounds.note('steady_writes', calls.filter(isWrite).length + rowChanges, { most: 0 });
  return { part: 'steady', seconds: asked.steady, cpu_percent: cpu, rss_mb: rss, calls: countsOf(calls) };
}

async function churn(seen: Sightings, leader: Worker): Promise<object> {
  const forMs = Math.min(asked.churn * 1_000, leftMs() - AFTER_CHURN_MS - instances * AFTER_CHURN_MS_EACH);
  if (forMs <= 0) return { part: 'churn', left_out: 'no time is left for it' };
  seen.takeWaits();
  const cpu = leader.cpuSeconds;
  const run = new Churn(bed.client, bed.namespace, seen);
  const progress = () => ({
    so_far: 'churn',
    pods_deleted: run.pods,
    units_deleted: run.units,
    ...stateOf(seen, leader),
  });
  const [took, used, whole] = await reporting(progress, REPORT_MS, async () => {
    const duration = await seconds(() => run.during(forMs, asked['per-second']));
    const usedSeconds = leader.cpuSeconds - cpu;
    // Waits until the last deletions are visible here.
    await delay(HEARD_MS);
    return [duration, usedSeconds, await seconds(() => allPublished(seen).finally(() => noteLost(seen)))] as const;
  });
  const perSecond = (run.pods + run.units) / took;
  bounds.note('churn_deletions_per_s', perSecond, { least: asked['per-second'] * ON_TIME });
  return {
    part: 'churn',
    seconds: took,
    deletions_asked_per_s: asked['per-second'],
    deletions_per_s: perSecond,
    pods_deleted: run.pods,
    units_deleted: run.units,
    whole_again_after_s: HEARD_MS / 1_000 + whole,
    ...waitsOf('churn', seen),
    leader_cpu_percent: (used / took) * 100,
    leader_rss_mb: leader.rssMb,
    leader_most_rss_mb: leader.mostRssMb,
  };
}

/**
 * Kills the leader. Another worker becomes the leader, and a restarted worker knows everything again without any write.
 */
async function takeOver(leader: Worker, hasOthers: boolean): Promise<object> {
  await delay(SETTLE_MS);
  const changes = await product.changes();
  const killed = Date.now();
  const before = await product.leader();
  await leader.end('SIGKILL');
  const leads = async () => ((await product.leader()) ?? before) !== before;
  if (hasOthers) await eventually('another worker leads', leads);
  const led = hasOthers ? (Date.now() - killed) / 1_000 : undefined;
  const name = 'worker-anew';
  const began = Date.now();
  await startWorker(name);
  const watches = () => bed.audit.since(began).filter(({ user, verb }) => user === name && verb === 'watch');
  const synced = await eventually('the new worker watches pods and units', () => {
    const since = ['pods', 'deployments'].map((one) => watches().find(({ resource }) => resource === one)?.at);
    return since.every((at) => at !== undefined) && Math.max(...(since as number[])) - began;
  });
  bounds.note('restart_synced_s', synced / 1_000, { most: 10 });
  if (!hasOthers) await eventually('the new worker leads', leads);
  await delay(SETTLE_MS);
  const calls = bed.audit.since(killed);
  const rowChanges = (await product.changes()) - changes;
  bounds.note('restart_writes', calls.filter(isWrite).length + rowChanges, { most: 0 });
  return {
    part: 'restart',
    another_leads_after_s: led,
    synced_after_s: synced / 1_000,
    row_changes: rowChanges,
    writes: countsOf(calls.filter(isWrite)),
    calls: countsOf(calls.filter(({ user }) => user === name)),
  };
}

/**
 * Each instance has one ready pod, and gateways and rows have that pod. The rows are read last, because there are many.
 */
async function allPublished(seen: Sightings): Promise<void> {
  await eventually(
    'all instances are published where their pods are',
    async () => {
      if (seen.pods.size !== instances || seen.published !== instances) return false;
      const ready = await product.ready();
      return ready.size === instances && seen.isSame(ready);
    },
    leftMs(),
  );
}

function noteLost(seen: Sightings): void {
  bounds.note('churn_lost', instances - seen.published, { most: 0 });
}

function stateOf(seen: Sightings, leader: Worker): object {
  return {
    pods_ready: seen.pods.size,
    published: seen.published,
    published_p95_ms: seen.waited.length > 0 ? quantile(seen.waited, 0.95) : null,
    leader_cpu_s: leader.cpuSeconds,
    leader_rss_mb: leader.rssMb,
  };
}

function waitsOf(part: string, seen: Sightings): object {
  const waits = seen.takeWaits();
  const [p50, p95, most] = [0.5, 0.95, 1].map((share) => quantile(waits, share)) as [number, number, number];
  bounds.note(`${part}_published_p95_ms`, p95, { most: 1_000 });
  return { published_ms: { count: waits.length, p50, p95, most } };
}
