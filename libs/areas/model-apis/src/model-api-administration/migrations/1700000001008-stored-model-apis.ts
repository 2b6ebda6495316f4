import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Products, bindings and publications count. Superseded publications are kept, so they count too. */
export class StoredModelApis1700000001008 implements MigrationInterface {
  /** One table at a time: locks on several would meet transactions that hold one and wait for another. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `select slipway_count_stored('model_api_products', array['slug', 'display_name', 'description', 'modalities', 'supported_parameters', 'pricing'], 'products', false)`,
    );
    await runner.query(
      `select slipway_count_stored('model_api_target_bindings', array['target', 'credential', 'limits', 'checks'], 'target_bindings', false)`,
    );
    await runner.query(
      `select slipway_count_stored('model_api_publications', array['bindings', 'audience', 'notes', 'media_urls'], 'publications', false)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`select slipway_uncount_stored('model_api_products')`);
    await runner.query(`select slipway_uncount_stored('model_api_target_bindings')`);
    await runner.query(`select slipway_uncount_stored('model_api_publications')`);
  }
}
