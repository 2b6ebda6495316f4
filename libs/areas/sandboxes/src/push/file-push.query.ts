import { tenantNameOf } from '@slipway/platform-http/auth';
import { prepared } from '@slipway/platform-database';

/** The current file as a push needs it, with the sealed credential. Only the worker reads it. */
export interface FilePushRow {
  blob: string;
  sizeBytes: string;
  referenceId: string;
  provider: 'e2b' | 'daytona' | 'custom';
  baseUrl: string;
  externalId: string;
  credential: string | null;
  state: 'active' | 'revoked';
  /** Decides which hosts the push may call. */
  tenantName: string;
}

/** A join: file and reference as they are at one moment. No other statement reads the credential. */
export const FIND_FILE_PUSH = prepared(
  'sandboxes-file-push',
  `select f.blob, f.size_bytes as "sizeBytes", r.id as "referenceId", r.provider, r.base_url as "baseUrl", r.external_id as "externalId", r.credential, r.state,
     ${tenantNameOf('r.tenant_id')} as "tenantName"
   from sandbox_files f join sandboxes s on s.id = f.sandbox_id join sandbox_references r on r.id = s.reference_id
   where f.sandbox_id = $1 and f.path = $2`,
);
