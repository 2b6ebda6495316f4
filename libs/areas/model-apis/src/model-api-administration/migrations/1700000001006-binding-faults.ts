import type { MigrationInterface, QueryRunner } from 'typeorm';

export class BindingFaults1700000001006 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table model_api_target_bindings add column reported_faults jsonb not null default '{}'`);
    await runner.query(
      `comment on column model_api_target_bindings.reported_faults is '{fault of the configuration: when an event last reported it}'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table model_api_target_bindings drop column reported_faults');
  }
}
