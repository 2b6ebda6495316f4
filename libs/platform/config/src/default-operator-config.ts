import { fileURLToPath } from 'node:url';

// Absolute, so that the embedded stack may be started from any folder; this file is four levels under the root in src and dist alike.
const simulator = fileURLToPath(new URL('../../../../tools/inference-sim/dist/main.js', import.meta.url));

/** What holds if SLIPWAY_CONFIG is unset and no slipway.config.yaml is present: enough for the quickstart, on one machine. */
export const DEFAULT_OPERATOR_CONFIG = `
targets:
  - name: local
    kind: process
    max_instances: 16
    engines:
      sim:
        command: ["node", ${JSON.stringify(simulator)}, "--port", "{port}", "--model", "{model.id}", "--start-log", "{home}/sim-starts.log"]
        args:
          ttft_ms: "--ttft-ms={}"
          itl_ms: "--itl-ms={}"
          tokens: "--tokens={}"
          error_rate: "--error-rate={}"
          startup_ms: "--startup-ms={}"
          crash_after: "--crash-after={}"
          crash_after_ms: "--crash-after-ms={}"
          never_ready: "--never-ready={}"
          seed: "--seed={}"
        env_allow: []
        ready: {path: /health, timeout_seconds: 30}
  - name: adopted
    kind: endpoint
    allow: ["http://127.0.0.1:*"]
`;
