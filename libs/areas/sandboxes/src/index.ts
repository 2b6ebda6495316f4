import type { SealedColumn } from '@slipway/platform-database';
import { Sandboxes1700000000900 } from './migrations/1700000000900-sandboxes.js';
import { SandboxReferences1700000000901 } from './migrations/1700000000901-sandbox-references.js';
import { SandboxFiles1700000000902 } from './migrations/1700000000902-sandbox-files.js';
import { UploadReservations1700000000905 } from './migrations/1700000000905-upload-reservations.js';
import { SandboxStrayBlobs1700000000903 } from './migrations/1700000000903-sandbox-stray-blobs.js';
import { StoredSandboxes1700000000904 } from './migrations/1700000000904-stored-sandboxes.js';

export { SandboxesModule } from './sandboxes.module.js';
export const migrations = [
  Sandboxes1700000000900,
  SandboxReferences1700000000901,
  SandboxFiles1700000000902,
  SandboxStrayBlobs1700000000903,
  StoredSandboxes1700000000904,
  UploadReservations1700000000905,
];
export const sealed: readonly SealedColumn[] = [
  {
    table: 'sandbox_references',
    id: 'id',
    column: 'credential',
    renewed: ({ id, credential }, reseal) => reseal(credential as string, id as string),
  },
];
