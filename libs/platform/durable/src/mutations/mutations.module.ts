import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { SlipwayHttpAdapter } from '@slipway/platform-http';
import { StoredCounts } from '../quotas/index.js';
import { Mutations } from './mutations.js';
import { KeyRetention } from './key-retention.js';
import { ReadAudit } from './read-audit.js';
import { ReadListing } from './read-listing.js';

/**
 * `Idempotency-Key` and stored quotas for mutations in one transaction, and the audit of reads. The process also needs
 * the scheduling module.
 */
@Global()
@Module({ providers: [Mutations, KeyRetention, ReadAudit, ReadListing, StoredCounts], exports: [Mutations, ReadAudit] })
export class MutationsModule implements OnModuleInit {
  constructor(
    private readonly mutations: Mutations,
    private readonly server: HttpAdapterHost,
  ) {}

  /** A worker has no server. */
  onModuleInit(): void {
    const { httpAdapter } = this.server as { httpAdapter?: unknown };
    if (httpAdapter instanceof SlipwayHttpAdapter)
      httpAdapter.setEarlierAnswers((claim) => this.mutations.earlierAnswer(claim));
  }
}
