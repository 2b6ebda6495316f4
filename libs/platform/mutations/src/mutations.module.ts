import { Global, Module } from '@nestjs/common';
import { IdempotentMutation } from './idempotency.js';
import { KeyRetention } from './key-retention.js';

/** `Idempotency-Key` for mutations in one transaction. Needs the scheduling module beside it. */
@Global()
@Module({ providers: [IdempotentMutation, KeyRetention], exports: [IdempotentMutation] })
export class MutationsModule {}
