import { prepared } from '@slipway/platform-database';

export interface FaultyWorkload {
  revision_id: string;
  revision_name: string;
  deployment_id: string;
  tenant_id: string;
  fault: string;
}

const IS_DUE = `coalesce((w.reported_faults->>s.fault)::timestamptz < now() - interval '1 hour', true)`;

/**
 * Marks faults ($2) of revisions ($1) as reported, at most $3 of them, and none that was reported less than an hour ago.
 * Returns one fault of each revision; the next run finds the others. One statement, so that of two workers only one
 * reports: the one that waits for the row of the other finds the fault marked.
 */
export const CLAIM_FAULTS = prepared(
  'instances-claim-faults',
  `with due as (
     select s.revision_id, s.fault from unnest($1::text[], $2::text[]) as s(revision_id, fault)
     join workloads w on w.revision_id = s.revision_id where ${IS_DUE} limit $3
   )
   update workloads w set reported_faults = w.reported_faults || jsonb_build_object(s.fault, now())
   from due s where w.revision_id = s.revision_id and ${IS_DUE}
   returning w.revision_id, w.revision_name, w.deployment_id, w.tenant_id, s.fault`,
);
