import { Global, Module } from '@nestjs/common';
import { StoredCounts } from '../quotas/index.js';
import { Mutations } from './mutations.js';
import { KeyRetention } from './key-retention.js';
import { ReadAudit } from './read-audit.js';
import { ReadListing } from './read-listing.js';

/**
 * `Idempotency-Key` and stored quotas for mutations in one transaction, and the audit of reads. The process also needs the scheduling
 * module.
 */
@Global()
@Module({ providers: [Mutations, KeyRetention, ReadAudit, ReadListing, StoredCounts], exports: [Mutations, ReadAudit] })
export class MutationsModule {}
