import { configOf, QUICK_LEASE, startApp } from './sandbox-app.js';

/** The area as a process of its own, for tests that measure or kill it. One JSON argument; says on IPC where it listens. */
const { databaseUrl, workspaceStore, maxBytes, pausePoint } = JSON.parse(process.argv[2]!) as Record<string, any>;
const { origin } = await startApp(
  configOf(databaseUrl, { ...QUICK_LEASE, upload: { maxBytes, workspaceStore, s3: { region: 'x' } }, pausePoint }),
);

let peak = 0;
setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 10).unref();
process.on('message', (question) => {
  if (question === 'reset') peak = process.memoryUsage.rss();
  process.send!({ peak, rss: process.memoryUsage.rss() });
});
process.send!({ origin });
