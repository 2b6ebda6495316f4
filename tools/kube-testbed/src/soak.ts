import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Churn } from './scale/churn.js';
import { print, quantile } from './scale/measure.js';
import { Product } from './scale/product.js';
import { Publications } from './scale/publications.js';
import { ScaleBed } from './scale/scale-bed.js';
import { SwallowingProxy } from './swallowing-proxy.js';
import { eventually } from './waiting.js';

// Runs a worker for hours while pods come and go, and cuts all its connections to the API server every 5 s:
// npm run kube:soak -- [--minutes 240]
// Prints a line of JSON after each tenth of the time, and a last one. Exit status 1: something was not published in the
// end.

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '240' }, deployments: { type: 'string', default: '20' } },
});
const [minutes, deployments] = [Number(values.minutes), Number(values.deployments)];
const CUT_EVERY_MS = 5_000;
/** Tokens of the bed last an hour. */
const RENEW_MS = 20 * 60_000;
const REPLICAS = 2;
const DELETIONS_PER_SECOND = 1;

const bed = await ScaleBed.start(4);
const product = await Product.start();
const proxy = await SwallowingProxy.start(bed.plane.access.server);
const publications = await Publications.follow(bed.client, bed.namespace, product.adminUrl);
process.once('SIGINT', () => void end().finally(() => process.exit(130)));
try {
  process.exitCode = (await soak()) ? 0 : 1;
} finally {
  await end();
}

async function end(): Promise<void> {
  await publications.close();
  await product.close();
  await proxy.stop();
  await bed.stop();
}

async function soak(): Promise<boolean> {
  const through = await bed.grant('worker', proxy);
  const worker = await product.worker({
    name: 'worker',
    kubeconfig: through.kubeconfig,
    namespace: bed.namespace,
    mostInstances: 100,
  });
  await product.deploy(deployments, REPLICAS);
  await whole();
  publications.seen.takeWaits();
  const churn = new Churn(bed.client, bed.namespace, publications.seen);
  const started = performance.now();
  const samples: { minute: number; rssMb: number; sockets: number; open: number }[] = [];
  let cuts = 0;
  let renewed = started;
  let told = 0;
  while (performance.now() - started < minutes * 60_000) {
    await Promise.all([delay(CUT_EVERY_MS), churn.during(CUT_EVERY_MS - 500, DELETIONS_PER_SECOND)]);
    const minute = (performance.now() - started) / 60_000;
    samples.push({ minute, rssMb: worker.rssMb, sockets: worker.sockets, open: proxy.open });
    proxy.cut();
    cuts += 1;
    if (performance.now() - renewed > RENEW_MS) {
      await through.renew();
      renewed = performance.now();
    }
    if (minute < ((told + 1) * minutes) / 10) continue;
    told += 1;
    print({ ...samples.at(-1), cuts, connections: proxy.connections });
  }
  const isWhole = await whole().then(
    () => true,
    () => false,
  );
  const waits = publications.seen.takeWaits();
  // In the first tenth, everything is read and compiled for the first time.
  const warm = samples.slice(Math.floor(samples.length / 10));
  const half = Math.floor(warm.length / 2);
  const median = (part: typeof warm) =>
    quantile(
      part.map(({ rssMb }) => rssMb),
      0.5,
    );
  print({
    minutes,
    cuts,
    connections: proxy.connections,
    sockets: {
      least: Math.min(...warm.map(({ sockets }) => sockets)),
      most: Math.max(...warm.map(({ sockets }) => sockets)),
    },
    rss_mb: {
      first_half: median(warm.slice(0, half)),
      second_half: median(warm.slice(half)),
      most: Math.max(...warm.map(({ rssMb }) => rssMb)),
    },
    rss_growth_mb: median(warm.slice(half)) - median(warm.slice(0, half)),
    deletions: churn.pods + churn.units,
    published_ms: {
      count: waits.length,
      p50: quantile(waits, 0.5),
      p95: quantile(waits, 0.95),
      most: quantile(waits, 1),
    },
    is_whole: isWhole,
  });
  return isWhole;
}

async function whole(): Promise<void> {
  await eventually(
    'all instances are published where their pods are',
    async () => {
      const ready = await product.ready();
      return ready.size === deployments * REPLICAS && publications.seen.isSame(ready);
    },
    5 * 60_000,
  );
}
