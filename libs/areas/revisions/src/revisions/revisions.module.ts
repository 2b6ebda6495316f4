import { Global, Module } from '@nestjs/common';
import { REVISIONS } from '@slipway/ports/revisions';
import { RevisionStore } from './revision.store.js';
import { RevisionsController } from './revisions.controller.js';
import { RevisionsService } from './revisions.service.js';

/** Global, because modules of other areas depend on the port. */
@Global()
@Module({
  controllers: [RevisionsController],
  providers: [RevisionStore, { provide: REVISIONS, useExisting: RevisionStore }, RevisionsService],
  exports: [REVISIONS],
})
export class RevisionsModule {}
