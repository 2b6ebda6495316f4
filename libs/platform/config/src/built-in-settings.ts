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
            // Text, because a revision may have a number as text: a narrower type would refuse its rollback.
            ttft_ms: { arg: '--ttft-ms={}', reason: 'time to the first token, in ms' },
            itl_ms: { arg: '--itl-ms={}', reason: 'time between two tokens, in ms' },
            slowdown: {
              arg: '--slowdown={}',
              reason: 'extra time of a response for each other request in flight, as a share of its own time',
            },
            max_num_seqs: { arg: '--max-num-seqs={}', reason: 'most requests in a batch; others wait in order' },
            max_num_batched_tokens: {
              arg: '--max-num-batched-tokens={}',
              reason: 'most tokens of an iteration, at least max_num_seqs',
            },
            step_ms: { arg: '--step-ms={}', reason: 'fixed time of an iteration, in ms; responses then share batches' },
            token_us: { arg: '--token-us={}', reason: 'time per token that an iteration computes, in microseconds' },
            kv_token_us: {
              arg: '--kv-token-us={}',
              reason: 'time per token of context in an iteration, in microseconds',
            },
            kv_tokens: { arg: '--kv-tokens={}', reason: 'tokens that the KV cache holds; no limit by default' },
            tokens: { arg: '--tokens={}', reason: 'tokens in a response, unless max_tokens is less' },
            error_rate: {
              arg: '--error-rate={}',
              reason: 'share of inference requests that fail with 500, from 0 to 1',
            },
            startup_ms: {
              arg: '--startup-ms={}',
              reason: 'time after the start in which the engine is not ready, in ms',
            },
            crash_after: { arg: '--crash-after={}', reason: 'exit with 1 after this number of responses' },
            crash_after_ms: { arg: '--crash-after-ms={}', reason: 'exit with 1 after this time, in ms' },
            never_ready: { arg: '--never-ready={}', reason: 'true: the engine never becomes ready' },
            seed: { arg: '--seed={}', reason: 'with the same seed, the same requests fail in each run' },
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
