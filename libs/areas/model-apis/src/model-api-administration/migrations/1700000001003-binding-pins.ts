import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Pins the revisions of the bindings of before; a new binding pins its own. */
export class BindingPins1700000001003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      insert into revision_pins (revision_id, tenant_id, holder)
      select r.id, r.tenant_id, 'binding:' || b.id from model_api_target_bindings b join revisions r on r.id = b.revision_id
      on conflict do nothing`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`delete from revision_pins where holder like 'binding:%'`);
  }
}
