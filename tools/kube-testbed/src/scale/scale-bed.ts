import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { filesOf } from '../component-arguments.js';
import type { KubeClient } from '../client.js';
import { ControlPlane } from '../control-plane.js';
import { guard } from '../guard.js';
import { KWOK_LABEL, KwokNodes } from '../kwok-nodes.js';
import { NAMESPACES, SERVICE_ACCOUNTS } from '../objects.js';
import { grant, workerRules, type GrantedAccess } from '../service-account.js';
import type { SwallowingProxy } from '../swallowing-proxy.js';
import { programs } from '../test-plane.js';
import { eventually } from '../waiting.js';
import { AuditLog } from './audit-log.js';

/** A control plane without rate limits, nodes that KWOK simulates, and a namespace of models whose pods run there. */
export class ScaleBed {
  readonly audit: AuditLog;
  private readonly folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-scale-bed-'));

  private constructor(
    readonly plane: ControlPlane,
    readonly client: KubeClient,
    readonly kwok: KwokNodes,
    readonly namespace: string,
  ) {
    this.audit = new AuditLog(filesOf(plane.folder).audit);
    guard.sweep(this.folder);
  }

  static async start(nodes: number): Promise<ScaleBed> {
    const plane = await ControlPlane.start({
      bin: programs(),
      isUnthrottled: true,
      isAudited: true,
      // The controllers mark the pods of a late node as not ready. KWOK never makes them ready again, as a kubelet
      // would.
      nodeGraceSeconds: 600,
    });
    const client = plane.client();
    const namespace = `scale-${randomBytes(3).toString('hex')}`;
    try {
      const kwok = await KwokNodes.start(plane.access, { name: namespace, nodes });
      const annotations = { 'scheduler.alpha.kubernetes.io/node-selector': `${KWOK_LABEL}=${namespace}` };
      await client.create(NAMESPACES, { metadata: { name: namespace, annotations } });
      // Without it, no pod is admitted.
      await eventually('the namespace has a ServiceAccount', () =>
        client.find(SERVICE_ACCOUNTS, { namespace, name: 'default' }),
      );
      return new ScaleBed(plane, client, kwok, namespace);
    } catch (error) {
      await client.close();
      await plane.stop();
      throw error;
    }
  }

  /** Creates a kubeconfig for a worker under the rules of the chart. The audit log distinguishes workers by name. */
  grant(name: string, through?: SwallowingProxy): Promise<GrantedAccess> {
    const { client, namespace, plane } = this;
    const access = through ? { ...plane.access, server: through.server } : plane.access;
    const file = path.join(this.folder, `${name}.kubeconfig`);
    return grant(client, access, { name, namespaces: [namespace], rules: workerRules(), file });
  }

  async stop(): Promise<void> {
    await this.kwok.stop().catch(() => undefined);
    await this.client.close();
    await this.plane.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
