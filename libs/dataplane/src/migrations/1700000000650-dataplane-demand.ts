import type { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMNS: readonly (readonly [name: string, type: string, comment: string])[] = [
  ['arrivals', 'int', 'Requests for the revision, counted when they came; null: unknown'],
  ['session_arrivals', 'int', 'Those of arrivals that a session bound to an instance; null: unknown'],
  ['refused', 'int', 'Requests refused because no instance could be had; null: unknown'],
  ['held', 'jsonb', 'Histogram of milliseconds that requests were held; null: none was, or unknown'],
  ['tokens', 'jsonb', '{input, output}: histograms of tokens of successful requests; null: none, or unknown'],
  ['starting', 'jsonb', 'The part of loads of instances that had just started, in its form; null: none, or unknown'],
];

/** What is asked of a revision, and not only what it served. Gateways of the previous release leave the columns out. */
export class DataplaneDemand1700000000650 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const added = COLUMNS.map(([name, type]) => `add column ${name} ${type}`).join(', ');
    await runner.query(`alter table dataplane_request_stats ${added}`);
    for (const [name, , comment] of COLUMNS)
      await runner.query(`comment on column dataplane_request_stats.${name} is '${comment}'`);
    await runner.query(
      `comment on table dataplane_request_stats is 'Attempts of requests that ended within one second, and requests that came, per revision and gateway; a row is written once'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    const dropped = COLUMNS.map(([name]) => `drop column ${name}`).join(', ');
    await runner.query(`alter table dataplane_request_stats ${dropped}`);
  }
}
