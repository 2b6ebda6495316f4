import { Inject, Module, type OnModuleDestroy } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Egress } from '@slipway/platform-egress';
import { FilesController } from './files/files.controller.js';
import { FilesService } from './files/files.service.js';
import { JsonDigests } from './files/content-digest.js';
import { FilePushOperation } from './push/file-push.operation.js';
import { PushCuts } from './push/push-cuts.js';
import { ReferencesController } from './references/references.controller.js';
import { ReferencesService } from './references/references.service.js';
import { SandboxesController } from './sandboxes.controller.js';
import { SandboxesService } from './sandboxes.service.js';
import { BLOB_STORE, type BlobStore } from './storage/blob-store.js';
import { createBlobStore } from './storage/bounded-store.js';
import { TRANSFER_IDLE_TIMEOUT } from './storage/time-limits.js';
import { StrayBlobs } from './storage/stray-blobs.js';
import { UploadReservations } from './files/upload-reservations.js';
import { UploadsService } from './files/uploads.service.js';
import { WorkspaceUpkeep } from './workspace-upkeep.js';

const blobStore = {
  provide: BLOB_STORE,
  inject: [CONFIG, { token: TRANSFER_IDLE_TIMEOUT, optional: true }],
  useFactory: (config: Config, idleTimeoutMs?: number) => createBlobStore(config, idleTimeoutMs),
};

/** Files are sent only to hosts that the operator allows for sandboxes (`outbound.sandboxes`). */
const egress = {
  provide: Egress,
  inject: [CONFIG],
  useFactory: ({ operator, ownPorts, outboundProxy: proxy }: Config) =>
    new Egress(() => operator.outbound?.sandboxes ?? [], { ownPorts, proxy }),
};

@Module({
  controllers: [ReferencesController, SandboxesController, FilesController],
  providers: [
    blobStore,
    egress,
    JsonDigests,
    StrayBlobs,
    WorkspaceUpkeep,
    SandboxesService,
    ReferencesService,
    FilesService,
    UploadReservations,
    UploadsService,
    PushCuts,
    FilePushOperation,
  ],
})
export class SandboxesModule implements OnModuleDestroy {
  constructor(@Inject(BLOB_STORE) private readonly store: BlobStore) {}

  async onModuleDestroy(): Promise<void> {
    await this.store.close();
  }
}
