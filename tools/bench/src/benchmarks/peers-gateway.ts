import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { skippedFinding, type Finding } from '../finding.js';
import { npmFolder, pythonBin, startServer, whyNot } from '../peers.js';
import { freePort, type Stand } from '../stand.js';
import { gatewayBefore, KINDS, requestsOf, measureThroughput, waitUntilServed, type Pass } from './gateway.js';

/** LiteLLM starts only with a long key. */
const LITELLM_KEY = `sk-${'b'.repeat(64)}`;

interface PeerGateway extends Pass {
  stop(): Promise<void>;
}

const PEERS: Record<string, (stand: Stand, upstream: string) => Promise<PeerGateway>> = {
  Portkey: portkey,
  LiteLLM: litellm,
};

/**
 * Compares our gateway with other gateways, which take turns with it: each is one process in front of the same
 * upstream. nginx is part of the benchmark `gateway`.
 */
export async function peersGateway(stand: Stand): Promise<Finding[]> {
  const { url: upstream } = await stand.limit('upstream');
  const ours = await gatewayBefore(stand, upstream);
  const findings: Finding[] = [];
  for (const [name, start] of Object.entries(PEERS)) {
    const title = `peers: gateway ÷ ${name}`;
    let peer: PeerGateway | undefined;
    try {
      peer = await start(stand, upstream);
      for (const kind of KINDS) findings.push(await beside(stand, title, kind, { ours, limit: peer }));
    } catch (error) {
      findings.push(skippedFinding(title, whyNot(title, error)));
    } finally {
      await peer?.stop();
    }
  }
  return findings;
}

/** A peer that does not support one kind of request is compared for the other kind. */
async function beside(
  stand: Stand,
  title: string,
  kind: (typeof KINDS)[number],
  passes: { ours: Pass; limit: Pass },
): Promise<Finding> {
  try {
    await waitUntilServed(passes.limit.url, passes.limit.requests[kind]);
    return await measureThroughput(stand, title, kind, passes, 'limit: that gateway, one process');
  } catch (error) {
    return skippedFinding(`${title}: ${kind}`, whyNot(title, error));
  }
}

async function portkey(_stand: Stand, upstream: string): Promise<PeerGateway> {
  const folder = await npmFolder('@portkey-ai/gateway');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const program = path.join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  const { stop } = await startServer([process.execPath, program, `--port=${port}`, '--headless'], url, {
    NODE_ENV: 'production',
  });
  const headers = {
    authorization: 'Bearer bench',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${upstream}/v1`,
  };
  return { url, requests: requestsOf('m', headers), stop };
}

async function litellm(stand: Stand, upstream: string): Promise<PeerGateway> {
  const bin = await pythonBin('litellm[proxy]');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const config = path.join(stand.home, 'litellm.yaml');
  const model = {
    model_name: 'bench',
    litellm_params: { model: 'openai/m', api_base: `${upstream}/v1`, api_key: 'bench' },
  };
  // JSON is YAML.
  writeFileSync(config, JSON.stringify({ model_list: [model], litellm_settings: { telemetry: false } }));
  const flags = [
    '--config',
    config,
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--num_workers',
    '1',
    '--telemetry',
    'False',
  ];
  const { stop } = await startServer([path.join(bin, 'litellm'), ...flags], `${url}/health/liveliness`, {
    LITELLM_LOG: 'ERROR',
    LITELLM_MASTER_KEY: LITELLM_KEY,
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  });
  return { url, requests: requestsOf('bench', { authorization: `Bearer ${LITELLM_KEY}` }), stop };
}
