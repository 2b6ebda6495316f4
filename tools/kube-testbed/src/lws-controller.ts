import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { ClusterAccess } from './access.js';
import { KubeClient } from './client.js';
import { Component } from './component.js';
import { addType } from './custom-types.js';
import { guard } from './guard.js';
import { MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS, type KubeObject } from './objects.js';
import { freePorts } from './ports.js';
import { eventually } from './waiting.js';

/** Label on every pod of a group; the webhooks must receive only these pods. */
const GROUP_LABEL = 'leaderworkerset.sigs.k8s.io/name';

interface Webhook {
  clientConfig: { service?: { path: string }; url?: string; caBundle?: string };
  rules: { resources: string[] }[];
  objectSelector?: object;
}

/**
 * The controller of LeaderWorkerSets with its type and its webhooks, for a whole control plane. A test that uses it
 * needs its own control plane.
 */
export class LwsController {
  private constructor(
    private readonly controller: Component,
    private readonly folder: string,
  ) {}

  /** @throws Error if it is not built */
  static async start(access: ClusterAccess): Promise<LwsController> {
    if (!existsSync(path.join(access.bin, 'lws')))
      throw new Error(`lws was not found in ${access.bin}. Run \`node tools/kube-testbed/build.mjs lws\` to build it.`);
    await addType(access, 'lws-crd.yaml');
    const client = new KubeClient(access, access.token);
    try {
      return await LwsController.run(access, client);
    } finally {
      await client.close();
    }
  }

  async stop(): Promise<void> {
    await this.controller.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private static async run(access: ClusterAccess, client: KubeClient): Promise<LwsController> {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-test-lws-'));
    guard.sweep(folder);
    const [port] = (await freePorts(1)) as [number];
    copyFileSync(access.tls.cert, path.join(folder, 'tls.crt'));
    copyFileSync(access.tls.key, path.join(folder, 'tls.key'));
    const config = path.join(folder, 'config.json');
    writeFileSync(config, JSON.stringify(configuration(port, folder)));
    const args = [`--kubeconfig=${access.kubeconfig}`, `--config=${config}`, '--leader-elect=false'];
    const running = new LwsController(new Component('lws', path.join(access.bin, 'lws'), args, folder), folder);
    try {
      await eventually('its webhooks listen', () => listens(port));
      for (const webhooks of webhooksOf(access, port))
        await client.create(webhooks.kind?.startsWith('Mutating') ? MUTATING_WEBHOOKS : VALIDATING_WEBHOOKS, webhooks);
      return running;
    } catch (error) {
      const said = running.controller.tail();
      await running.stop();
      throw new Error(`${(error as Error).message}\n${said}`, { cause: error });
    }
  }
}

function configuration(port: number, certDir: string): object {
  return {
    apiVersion: 'config.lws.x-k8s.io/v1alpha1',
    kind: 'Configuration',
    leaderElection: { leaderElect: false },
    internalCertManagement: { enable: false },
    webhook: { host: '127.0.0.1', port, certDir },
    metrics: { bindAddress: '0' },
    health: { healthProbeBindAddress: '0' },
  };
}

/** The webhooks from its sources, with the address of a process instead of a Service. */
function webhooksOf(access: ClusterAccess, port: number): KubeObject[] {
  const documents = parseAllDocuments(readFileSync(path.join(access.bin, 'lws-webhooks.yaml'), 'utf8'));
  return documents.map((document) => {
    const { metadata, webhooks, ...rest } = document.toJS() as KubeObject & { webhooks: Webhook[] };
    return {
      ...rest,
      metadata: { name: `lws-${metadata.name}` },
      webhooks: webhooks.map((one) => ({
        ...one,
        clientConfig: {
          url: `https://127.0.0.1:${port}${one.clientConfig.service?.path}`,
          caBundle: Buffer.from(access.ca).toString('base64'),
        },
        ...(one.rules.some(({ resources }) => resources.includes('pods'))
          ? { objectSelector: { matchExpressions: [{ key: GROUP_LABEL, operator: 'Exists' }] } }
          : {}),
      })),
    };
  });
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
