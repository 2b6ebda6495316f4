import { fileURLToPath } from 'node:url';
import { OPERATOR_TENANT } from '@slipway/contracts';

// Absolute, so that the embedded stack may be started from any folder. This file is four levels below the root in both
// src and dist.
const simulator = fileURLToPath(new URL('../../../../tools/inference-sim/dist/main.js', import.meta.url));

const LOOPBACK = { origin: 'http://127.0.0.1:*', tenants: [OPERATOR_TENANT] };

/**
 * The settings to which the operator's file is added, in the format of that file. They are enough for the quickstart on
 * one machine.
 */
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
            max_num_seqs: '--max-num-seqs={}',
            max_num_batched_tokens: '--max-num-batched-tokens={}',
            step_ms: '--step-ms={}',
            token_us: '--token-us={}',
            kv_token_us: '--kv-token-us={}',
            kv_tokens: '--kv-tokens={}',
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
          metrics: {
            path: '/metrics',
            running: 'inference_sim_requests_running',
            waiting: 'inference_sim_requests_waiting',
            kv_usage: 'inference_sim_kv_cache_usage_ratio',
            preemptions: 'inference_sim_preemptions_total',
          },
        },
      },
    },
    // The tenants are part of the origin and not of the target, so that a file that replaces `allow` decides about its
    // tenants anew.
    { name: 'adopted', kind: 'endpoint', allow: [LOOPBACK] },
  ],
  outbound: { suppliers: [LOOPBACK], sandboxes: [LOOPBACK] },
};
