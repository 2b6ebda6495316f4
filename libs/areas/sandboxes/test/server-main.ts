import { configOf, QUICK_LEASE, startApp } from './sandbox-app.js';

/**
 * Runs the area as a process of its own, for tests that measure or kill it. Takes one JSON argument; sends its address
 * on IPC.
 */
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
