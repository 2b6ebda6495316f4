import type { MigrationInterface, QueryRunner } from 'typeorm';

export class RevisionPins1700000000202 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table revision_pins (
        revision_id text not null references revisions (id),
        holder text not null,
        tenant_id text not null,
        primary key (revision_id, holder)
      )`);
    await runner.query(`select slipway_tenant_table('revision_pins')`);
    await runner.query(
      `comment on table revision_pins is 'Who needs a revision to stay although no route and no activation names it'`,
    );
    await runner.query(`comment on column revision_pins.holder is 'Such as binding:<id>'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table revision_pins');
  }
}
