import { prepared } from '@slipway/platform-database';

export interface FaultyWorkload {
  revision_id: string;
  revision_name: string;
  deployment_id: string;
  tenant_id: string;
  fault: string;
}

/**
 * Marks faults ($2) of revisions ($1) as reported, except those that were reported less than an hour ago. Returns one
 * fault of each revision; the next run finds the others. One statement, so that of two workers only one reports.
 */
export const CLAIM_FAULTS = prepared(
  'instances-claim-faults',
  `update workloads w set reported_faults = w.reported_faults || jsonb_build_object(s.fault, now())
   from unnest($1::text[], $2::text[]) as s(revision_id, fault)
   where w.revision_id = s.revision_id
     and coalesce((w.reported_faults->>s.fault)::timestamptz < now() - interval '1 hour', true)
   returning w.revision_id, w.revision_name, w.deployment_id, w.tenant_id, s.fault`,
);
