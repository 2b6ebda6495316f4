import type { MigrationInterface, QueryRunner } from 'typeorm';

const COMMENTS: Record<string, string> = {
  'table dataplane_service_records':
    'What ended on a revision and what arrived for it within one minute or one hour, over all gateways',
  'column dataplane_service_records.revision_id': 'Revision, or the binding of a published product',
  'column dataplane_service_records.seconds': 'Length: 60 or 3600',
  'column dataplane_service_records.starts_at': 'Start, a whole minute or hour',
  'column dataplane_service_records.tenant_id': 'Tenant of the revision or binding',
  'column dataplane_service_records.arrivals': 'Requests, counted when they came',
  'column dataplane_service_records.refused': 'Requests refused because no instance could be had',
  'column dataplane_service_records.record': 'The rest of the record (StoredRecord of the library dataplane)',
  'table dataplane_record_merges': 'How far the one-second rows are merged, by the length of the records',
  'column dataplane_record_merges.seconds': 'Length of the records: 60 or 3600',
  'column dataplane_record_merges.merged_until': 'All records that start earlier are complete',
  'column dataplane_record_merges.last_revision':
    'The records that start at merged_until are complete for the revisions up to this one; null: for none',
  'table dataplane_engine_peaks': 'The largest values that the engines of a revision reported within one minute',
  'column dataplane_engine_peaks.revision_id': 'Revision',
  'column dataplane_engine_peaks.starts_at': 'Start of the minute',
  'column dataplane_engine_peaks.tenant_id': 'Tenant of the revision',
  'column dataplane_engine_peaks.kv_usage': 'Share of the KV cache in use, 0..1; null: not reported',
  'column dataplane_engine_peaks.waiting': 'Requests that waited in the engine; null: not reported',
};

/** The first merge reads what is stored of the last eight days, which is as long as minutes are kept. */
const FIRST = `date_bin('1 hour', now() - interval '8 days', timestamptz '2000-01-01T00:00:00Z')`;

/** Records by minute and by hour, which last longer than those by second and are quick to read. */
export class DataplaneRecords1700000000651 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table dataplane_service_records (
        revision_id text not null,
        seconds int not null,
        starts_at timestamptz not null,
        tenant_id text not null,
        arrivals int not null,
        refused int not null,
        record jsonb not null,
        primary key (revision_id, seconds, starts_at)
      )`);
    await runner.query(`create index dataplane_service_records_age on dataplane_service_records (seconds, starts_at)`);
    await runner.query(`
      create table dataplane_record_merges (
        seconds int primary key,
        merged_until timestamptz not null,
        last_revision text
      )`);
    await runner.query(`
      create table dataplane_engine_peaks (
        revision_id text not null,
        starts_at timestamptz not null,
        tenant_id text not null,
        kv_usage float8,
        waiting float8,
        primary key (revision_id, starts_at)
      )`);
    await runner.query(`create index dataplane_engine_peaks_age on dataplane_engine_peaks (starts_at)`);
    for (const [what, text] of Object.entries(COMMENTS)) await runner.query(`comment on ${what} is '${text}'`);
    await runner.query(`insert into dataplane_record_merges values (60, ${FIRST}), (3600, ${FIRST})`);
    await runner.query(`select slipway_tenant_table('dataplane_service_records')`);
    await runner.query(`select slipway_tenant_table('dataplane_engine_peaks')`);
    await runner.query(`select slipway_system_table('dataplane_record_merges')`);
    // Readers of one tenant must know how far its records are complete.
    await runner.query(`create policy tenant on dataplane_record_merges for select to slipway_tenant using (true)`);
    await runner.query(`grant select on dataplane_record_merges to slipway_tenant`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['dataplane_engine_peaks', 'dataplane_record_merges', 'dataplane_service_records'])
      await runner.query(`drop table ${table}`);
  }
}
