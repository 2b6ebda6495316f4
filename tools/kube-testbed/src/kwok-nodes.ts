import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { ClusterAccess } from './access.js';
import { KubeClient } from './client.js';
import { Component } from './component.js';
import { guard } from './guard.js';
import { NODES } from './objects.js';
import { eventually } from './waiting.js';

/** Label on every node that KWOK simulates, with the name of its group. */
export const KWOK_LABEL = 'slipway.test/kwok';

/** KWOK spends most of its time on leases, so they are renewed as rarely as the controllers accept. */
const LEASE_SECONDS = 600;

/** Nodes whose pods are ready at once and run nothing, for tests of scale without requests. */
export class KwokNodes {
  private constructor(
    readonly name: string,
    private readonly kwok: Component,
    private readonly folder: string,
    private readonly client: KubeClient,
  ) {}

  /** @throws Error if `kwok` is not built */
  static async start(access: ClusterAccess, options: { name: string; nodes: number }): Promise<KwokNodes> {
    const program = path.join(access.bin, 'kwok');
    if (!existsSync(program))
      throw new Error(
        `kwok was not found in ${access.bin}. Run \`node tools/kube-testbed/build.mjs kwok\` to build it.`,
      );
    const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-test-kwok-'));
    guard.sweep(folder);
    const client = new KubeClient(access, access.token);
    const names = Array.from({ length: options.nodes }, (_, at) => `${options.name}-${at + 1}`);
    for (const name of names)
      await client.create(NODES, {
        metadata: { name, labels: { [KWOK_LABEL]: options.name, 'kubernetes.io/hostname': name } },
      });
    const args = [
      `--kubeconfig=${access.kubeconfig}`,
      `--manage-nodes-with-label-selector=${KWOK_LABEL}=${options.name}`,
      `--node-lease-duration-seconds=${LEASE_SECONDS}`,
    ];
    const played = new KwokNodes(options.name, new Component('kwok', program, args, folder), folder, client);
    try {
      await eventually('KWOK plays all of its nodes', () => played.areOpen(names.length), 60_000);
      return played;
    } catch (error) {
      const said = played.kwok.tail();
      await played.stop();
      throw new Error(`${(error as Error).message}\n${said}`, { cause: error });
    }
  }

  async stop(): Promise<void> {
    await this.kwok.kill();
    const { items } = await this.client.list(NODES, { labelSelector: `${KWOK_LABEL}=${this.name}` });
    for (const { metadata } of items) await this.client.remove(NODES, { name: metadata.name });
    await this.client.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async areOpen(count: number): Promise<boolean> {
    const { items } = await this.client.list(NODES, { labelSelector: `${KWOK_LABEL}=${this.name}` });
    const open = items.filter((node) => {
      const taints: { key: string }[] = node['spec']?.taints ?? [];
      return !taints.some(({ key }) => key.startsWith('node.kubernetes.io/'));
    });
    return open.length === count;
  }
}
