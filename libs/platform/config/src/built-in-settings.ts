import { fileURLToPath } from 'node:url';
import { OPERATOR_TENANT } from '@slipway/contracts';

// Absolute, so that the embedded stack may be started from any folder; this file is four levels under the root in src and dist alike.
const simulator = fileURLToPath(new URL('../../../../tools/inference-sim/dist/main.js', import.meta.url));

const LOOPBACK = { origin: 'http://127.0.0.1:*', tenants: [OPERATOR_TENANT] };

/** What the operator's file adds to, written as that file is: enough for the quickstart, on one machine. */
export const BUILT_IN_SETTINGS = {
  targets: [
    {
      name: 'local',
      kind: 'process',
      max_instances: 16,
      engines: {
        sim: {
          command: [
            ...['node', simulator, '--port', '{port}', '--model', '{model.id}'],
            ...['--start-log', '{home}/sim-starts.log'],
          ],
          args: {
            ttft_ms: '--ttft-ms={}',
            itl_ms: '--itl-ms={}',
            slowdown: '--slowdown={}',
            tokens: '--tokens={}',
            error_rate: '--error-rate={}',
            startup_ms: '--startup-ms={}',
            crash_after: '--crash-after={}',
            crash_after_ms: '--crash-after-ms={}',
            never_ready: '--never-ready={}',
            seed: '--seed={}',
          },
          env_allow: [],
          ready: { path: '/health', timeout_seconds: 30 },
        },
      },
    },
    // For whom stands with the origin and not with the target: a file that gives `allow` a value of its own says anew for whom it is.
    { name: 'adopted', kind: 'endpoint', allow: [LOOPBACK] },
  ],
  outbound: { suppliers: [LOOPBACK], sandboxes: [LOOPBACK] },
};
