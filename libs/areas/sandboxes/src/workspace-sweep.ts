import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Database, type Tx } from '@slipway/platform-database';
import { appendAudit, Sweeper, type DueWork } from '@slipway/platform-operations';
import { EXPIRE_SANDBOX, EXPIRED_SANDBOXES } from './stray.query.js';
import { StrayBlobs } from './stray-blobs.js';

/** What workspaces need without anybody asking: expired sandboxes go, and so do blobs that no file names. */
@Injectable()
export class WorkspaceSweep implements DueWork, OnModuleInit {
  readonly name = 'sandboxes';

  constructor(
    @Inject(Sweeper) private readonly sweeper: Sweeper,
    @Inject(Database) private readonly database: Database,
    @Inject(StrayBlobs) private readonly strays: StrayBlobs,
  ) {}

  onModuleInit(): void {
    this.sweeper.register(this);
  }

  async sweep(tx: Tx): Promise<void> {
    const expired = await tx.query<{ id: string; tenantId: string }>(EXPIRED_SANDBOXES);
    for (const { id, tenantId } of expired) await this.expire(tenantId, id);
    await this.strays.sweep();
  }

  /** In a transaction of the tenant's own, for the audit row. Two workers may meet here; the later one finds nothing. */
  private async expire(tenantId: string, id: string): Promise<void> {
    await this.database.tx({ tenantId }, async (tx) => {
      if (!(await tx.one(EXPIRE_SANDBOX, [id]))) return;
      await appendAudit(tx, {
        action: 'sandbox.expire',
        resourceType: 'sandbox',
        resourceName: id,
        actor: { type: 'system', id: 'sweeper' },
      });
    });
  }
}
