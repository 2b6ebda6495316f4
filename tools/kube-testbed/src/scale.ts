import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bedPace } from './scale/bed-pace.js';
import { countsOf, isWrite } from './scale/audit-log.js';
import { Churn } from './scale/churn.js';
import { print, quantile, seconds } from './scale/measure.js';
import { Product, type Worker } from './scale/product.js';
import { Publications } from './scale/publications.js';
import { ScaleBed } from './scale/scale-bed.js';
import { eventually } from './waiting.js';

// Workers of the product with a target of many deployments, on nodes of KWOK: npm run kube:scale -- [deployments] [options]
// Prints one line of JSON for each part. What the bed itself takes is the first of them.

const USAGE = `npm run kube:scale -- [deployments, 1000] [--replicas 2] [--nodes 20] [--workers 2] [--steady 60] [--per-second 50] [--churn 300] [--bed-units 200]
seconds are \`steady\` (nothing changes) and \`churn\` (random pods and units are deleted); 0 leaves a part out\n`;
const MOST_MS = 30 * 60_000;
/** What was begun has an end by then, and the statistics of Postgres and the API server are written. */
const SETTLE_MS = 10_000;
const HEARD_MS = 1_000;

const asked = readOptions();
const bed = await ScaleBed.start(asked.nodes);
const product = await Product.start();
const instances = asked.deployments * asked.replicas;
let publications: Publications | undefined;
process.once('SIGINT', () => void end().finally(() => process.exit(130)));
try {
  if (asked['bed-units'] > 0) print(await bedPace(bed, asked['bed-units']));
  publications = await Publications.follow(bed.client, bed.namespace, product.adminUrl);
  let leader = await startWorker('worker-1');
  const others: Worker[] = [];
  for (let at = 2; at <= asked.workers; at += 1) others.push(await startWorker(`worker-${at}`));
  print(await startAll(publications, leader));
  if (asked.steady > 0) print(await steady([leader, ...others]));
  if (asked.churn > 0) print(await churn(publications, leader));
  const taken = await takeOver(leader, others.length > 0);
  leader = taken.worker;
  print(taken.figures);
} finally {
  await end();
}

async function end(): Promise<void> {
  await publications?.close();
  await product.close();
  await bed.stop();
}

async function startWorker(name: string): Promise<Worker> {
  const { kubeconfig } = await bed.grant(name);
  return product.worker({ name, kubeconfig, namespace: bed.namespace, mostInstances: instances });
}

/** From the commit that asks for all until gateways know all; then each unit was made once. */
async function startAll(seen: Publications, leader: Worker): Promise<object> {
  const began = Date.now();
  await product.deploy(asked.deployments, asked.replicas);
  const made = () =>
    bed.audit.since(began).filter(({ verb, resource }) => verb === 'create' && resource === 'deployments');
  const units = await seconds(() => eventually('all units are there', () => made().length >= instances, MOST_MS));
  const pods = await seconds(() => eventually('all pods are ready', () => seen.pods.size === instances, MOST_MS));
  const published = await seconds(() => allPublished(seen));
  return {
    part: 'start',
    deployments: asked.deployments,
    replicas: asked.replicas,
    workers: asked.workers,
    all_units_s: units,
    all_pods_ready_s: units + pods,
    all_published_s: units + pods + published,
    ...waitsOf(seen),
    units_made: made().filter(({ status }) => status < 300).length,
    units_made_twice: made().filter(({ status }) => status === 409).length,
    makers: [...new Set(made().map(({ user }) => user))],
    leader_cpu_s: leader.cpuSeconds,
    leader_rss_mb: leader.rssMb,
  };
}

/** Nothing changes: what it costs to be sure of that. */
async function steady(workers: readonly Worker[]): Promise<object> {
  await delay(SETTLE_MS);
  const began = Date.now();
  const changes = await product.changes();
  const before = workers.map(({ cpuSeconds }) => cpuSeconds);
  await delay(asked.steady * 1_000);
  const calls = bed.audit.since(began);
  return {
    part: 'steady',
    seconds: asked.steady,
    cpu_percent: workers.map(({ cpuSeconds }, at) => ((cpuSeconds - before[at]!) / asked.steady) * 100),
    rss_mb: workers.map(({ rssMb }) => rssMb),
    lists: calls.filter(({ verb }) => verb === 'list').length,
    writes: calls.filter(isWrite).length,
    row_changes: (await product.changes()) - changes,
    calls: countsOf(calls),
  };
}

async function churn(seen: Publications, leader: Worker): Promise<object> {
  seen.takeWaits();
  const cpu = leader.cpuSeconds;
  const run = new Churn(bed.client, bed.namespace, seen);
  const took = await seconds(() => run.during(asked.churn * 1_000, asked['per-second']));
  const used = leader.cpuSeconds - cpu;
  const whole = await seconds(async () => {
    // Until the last deletions are heard of here.
    await delay(HEARD_MS);
    await allPublished(seen);
  });
  return {
    part: 'churn',
    seconds: asked.churn,
    deletions_asked_per_s: asked['per-second'],
    deletions_per_s: (run.pods + run.units) / took,
    pods_deleted: run.pods,
    units_deleted: run.units,
    whole_again_after_s: whole,
    ...waitsOf(seen),
    leader_cpu_percent: (used / took) * 100,
    leader_rss_mb: leader.rssMb,
  };
}

/** The leader is killed; another leads, and one that is started anew knows everything again without having written anything. */
async function takeOver(leader: Worker, hasOthers: boolean) {
  await delay(SETTLE_MS);
  const changes = await product.changes();
  const killed = Date.now();
  const before = await product.leader();
  await leader.end('SIGKILL');
  const leads = async () => ((await product.leader()) ?? before) !== before;
  const led = hasOthers ? await seconds(() => eventually('another worker leads', leads)) : undefined;
  const name = 'worker-anew';
  const began = Date.now();
  const worker = await startWorker(name);
  const watches = () => bed.audit.since(began).filter(({ user, verb }) => user === name && verb === 'watch');
  const synced = await eventually('the new worker watches pods and units', () => {
    const since = ['pods', 'deployments'].map((one) => watches().find(({ resource }) => resource === one)?.at);
    return since.every((at) => at !== undefined) && Math.max(...(since as number[])) - began;
  });
  if (!hasOthers) await eventually('the new worker leads', leads);
  await delay(SETTLE_MS);
  const calls = bed.audit.since(killed);
  const figures = {
    part: 'restart',
    another_leads_after_s: led,
    synced_after_s: synced / 1_000,
    row_changes: (await product.changes()) - changes,
    writes: calls.filter(isWrite).length,
    calls: countsOf(calls.filter(({ user }) => user === name)),
  };
  return { worker, figures };
}

/** Each instance has one ready pod, and that is what its row and the gateways have. */
async function allPublished(seen: Publications): Promise<void> {
  await eventually(
    'all instances are published where their pods are',
    async () => {
      const ready = await product.ready();
      return ready.size === instances && seen.pods.size === instances && seen.isSame(ready);
    },
    MOST_MS,
  );
}

function waitsOf(seen: Publications): object {
  const waits = seen.takeWaits();
  return {
    published_ms: {
      count: waits.length,
      p50: quantile(waits, 0.5),
      p95: quantile(waits, 0.95),
      most: quantile(waits, 1),
    },
  };
}

function readOptions() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        replicas: { type: 'string', default: '2' },
        nodes: { type: 'string', default: '20' },
        workers: { type: 'string', default: '2' },
        steady: { type: 'string', default: '60' },
        'per-second': { type: 'string', default: '50' },
        churn: { type: 'string', default: '300' },
        'bed-units': { type: 'string', default: '200' },
      },
    });
    const numbers = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]));
    const read = { ...numbers, deployments: Number(positionals[0] ?? 1_000) };
    if (Object.values(read).some((value) => !(value >= 0))) throw new Error('a number is none');
    return read as Record<keyof typeof values | 'deployments', number>;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${USAGE}`);
    process.exit(64);
  }
}
