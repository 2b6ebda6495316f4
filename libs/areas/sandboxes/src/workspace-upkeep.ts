import { systemActor } from '@slipway/contracts';
import { Injectable } from '@nestjs/common';
import { appendAudit } from '@slipway/platform-durable/mutations';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { Raw } from 'typeorm';
import { SandboxEntity } from './sandbox.entity.js';
import { EXPIRE_SANDBOX } from './sandbox.query.js';
import { StrayBlobs } from './storage/stray-blobs.js';

/** Background work of workspaces: removes expired sandboxes, and blobs that no file names. */
@Injectable()
export class WorkspaceUpkeep {
  constructor(private readonly strays: StrayBlobs) {}

  @Recurring({ name: 'workspaces', everySeconds: 1 })
  async run(transact: Transact): Promise<void> {
    const expired = await transact('system', (tx) =>
      tx
        .repository(SandboxEntity)
        .find({
          select: { id: true, tenant_id: true },
          where: { expires_at: Raw((expiresAt) => `${expiresAt} <= now()`) },
          order: { expires_at: 'ASC' },
          take: 10,
        }),
    );
    for (const { id, tenant_id } of expired) await this.expire(transact, tenant_id, id);
    await this.strays.sweep(transact);
  }

  /**
   * Runs in a transaction of the tenant's own, for the audit row. Two workers may meet here; the later one finds
   * nothing.
   */
  private async expire(transact: Transact, tenantId: string, id: string): Promise<void> {
    await transact({ tenantId }, async (tx) => {
      if (!(await tx.one(EXPIRE_SANDBOX, [id]))) return;
      await appendAudit(tx, {
        action: 'sandbox.expire',
        resourceType: 'sandbox',
        resourceName: id,
        actor: systemActor('sweeper'),
      });
    });
  }
}
