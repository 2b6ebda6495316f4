import { tenantNameOf } from '@slipway/platform-http/auth';
import { prepared } from '@slipway/platform-database';

/** What a push needs to know of the file as it is now, the sealed credential included; only the worker asks. */
export interface FilePushRow {
  blob: string;
  sizeBytes: string;
  referenceId: string;
  provider: 'e2b' | 'daytona' | 'custom';
  baseUrl: string;
  externalId: string;
  credential: string | null;
  state: 'active' | 'revoked';
  /** What it may call is judged by this. */
  tenantName: string;
}

/** A join: file and reference as they are at one moment. Nothing else reads the credential. */
export const FIND_FILE_PUSH = prepared(
  'sandboxes-file-push',
  `select f.blob, f.size_bytes as "sizeBytes", r.id as "referenceId", r.provider, r.base_url as "baseUrl", r.external_id as "externalId", r.credential, r.state,
     ${tenantNameOf('r.tenant_id')} as "tenantName"
   from sandbox_files f join sandboxes s on s.id = f.sandbox_id join sandbox_references r on r.id = s.reference_id
   where f.sandbox_id = $1 and f.path = $2`,
);
