import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, quotasOf, type QuotaConfig } from '@slipway/platform-config';
import { Database, type Tx } from '@slipway/platform-database';
import { lockQuota, quotaExceeded } from '@slipway/platform-durable/quotas';
import { errors, SlipwayError, type Principal } from '@slipway/platform-http';
import { StrayBlobs, type StrayLease } from '../storage/stray-blobs.js';
import { RESERVE_UPLOAD_BYTES, UPLOADS_OF_TENANT, type TenantUploads } from '../storage/stray.query.js';

/** Bytes that are reserved before the first one arrives, so that a small file needs no second reservation. */
const FIRST_BYTES = 1024 * 1024;
/** Each reservation doubles the one before, up to this many more bytes. */
const MOST_MORE_BYTES = 16 * 1024 * 1024;

export interface UploadPlan {
  sandboxId: string;
  blob: string;
  /** Undefined if the request does not declare its length. */
  declaredBytes?: number;
  /** The size of the file that the upload replaces. Its bytes become free when the upload ends. */
  replacedBytes: number;
}

/** The part of the quota `sandbox_bytes` that an upload has taken so far. */
export interface UploadReservation extends StrayLease {
  /**
   * Resolves when this many bytes may be written. Call it before they are.
   * @throws quota_exceeded (429), unavailable (503)
   */
  cover(bytes: number): Promise<void>;
}

/**
 * Counts uploads while they run, because their bytes take space whether or not they ever end. All processes count in
 * the rows of unfinished blobs. A row is fenced by its lease: a process that was paused for longer reserves nothing
 * more, and the row of a dead process ends together with what it has written.
 *
 * The bytes of a tenant, stored and reserved, exceed its quota by no more than the file that one upload replaces.
 */
@Injectable()
export class UploadReservations {
  constructor(
    @Inject(CONFIG) private readonly config: QuotaConfig,
    private readonly database: Database,
    private readonly strays: StrayBlobs,
  ) {}

  /** Begins an upload. @throws quota_exceeded (429) */
  async begin(who: Principal, plan: UploadPlan): Promise<UploadReservation> {
    const { sandboxId, blob, declaredBytes } = plan;
    let reserved = 0;
    const lease = await this.strays.lease(who.tenantId, sandboxId, blob, async (tx) => {
      const uploads = await this.lockedUploads(tx, who, blob);
      const limit = quotasOf(this.config, who.tenantName).sandbox_uploads;
      if (uploads.count >= limit) throw quotaExceeded('sandbox_uploads', limit);
      const wanted = Math.min(FIRST_BYTES, declaredBytes ?? FIRST_BYTES);
      reserved = this.granted(who, plan, uploads, { needed: declaredBytes ?? 0, wanted });
      return reserved;
    });
    const cover = async (bytes: number): Promise<void> => {
      if (bytes > reserved) reserved = await this.extend(who, plan, reserved, bytes);
    };
    return { stop: () => lease.stop(), cover };
  }

  private async extend(who: Principal, plan: UploadPlan, reserved: number, needed: number): Promise<number> {
    const doubled = Math.min(2 * reserved, reserved + MOST_MORE_BYTES);
    const next = Math.min(plan.declaredBytes ?? Infinity, Math.max(FIRST_BYTES, doubled));
    try {
      return await this.database.tx({ tenantId: who.tenantId }, async (tx) => {
        const uploads = await this.lockedUploads(tx, who, plan.blob);
        const bytes = this.granted(who, plan, uploads, { needed, wanted: Math.max(needed, next) });
        if (await tx.one(RESERVE_UPLOAD_BYTES, [plan.blob, who.tenantId, bytes])) return bytes;
        throw errors.unavailable({ message: 'The lease of the upload expired before the upload ended.' });
      });
    } catch (failure) {
      if (failure instanceof SlipwayError) throw failure;
      throw errors.unavailable({ message: 'The bytes of the upload could not be counted.', cause: failure });
    }
  }

  /** Later reservations of this tenant, in all processes, wait until the transaction ends. */
  private async lockedUploads(tx: Tx, { tenantId }: Principal, blob: string): Promise<TenantUploads> {
    await lockQuota(tx, tenantId, 'sandbox_bytes');
    return (await tx.one<TenantUploads>(UPLOADS_OF_TENANT, [tenantId, blob]))!;
  }

  /** @returns the bytes to reserve: those wanted, or as many as there are if these are enough */
  private granted(
    { tenantName }: Principal,
    { replacedBytes }: UploadPlan,
    { stored, reservedByOthers }: TenantUploads,
    { needed, wanted }: { needed: number; wanted: number },
  ): number {
    const limit = quotasOf(this.config, tenantName).sandbox_bytes;
    const free = limit - stored - reservedByOthers + replacedBytes;
    // A file can be replaced by one that is not larger even if an operator has lowered the quota, by one upload at a time.
    const available = Math.max(0, free, reservedByOthers === 0 ? replacedBytes : 0);
    if (needed > available) throw quotaExceeded('sandbox_bytes', limit);
    return Math.min(wanted, available);
  }
}
