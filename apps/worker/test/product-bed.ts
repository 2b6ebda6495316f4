import type { AddressInfo } from 'node:net';
import { AuthModule, ensureBootstrap } from '@slipway/platform-http/auth';
import type { Config } from '@slipway/platform-config';
import { Database } from '@slipway/platform-database';
import type { TestDatabase } from '@slipway/platform-database/testing';
import { AreaBed, type AreaApplication } from '@slipway/platform-durable/operations/testing';
import { AREAS, MIGRATIONS, TargetKindsModule } from '@slipway/registry';
import { Slipway } from '@slipway/sdk';
import { operatorConfig } from './operator-config.js';

const TOKEN = `slw_bootstrap0001_${'b'.repeat(43)}`;

/** All areas of the product in one process, over HTTP and through their ports. */
export class ProductBed extends AreaBed {
  private number = 0;

  private constructor(
    area: AreaApplication,
    /** The client with the operator's bootstrap token. */
    readonly slipway: Slipway,
    readonly tenantId: string,
  ) {
    super(area);
  }

  /** @param options.database a migrated database, such as that of worker processes; by default the bed makes its own */
  static async start(options: {
    process: 'api' | 'worker';
    database?: TestDatabase;
    config?: Partial<Config>;
  }): Promise<ProductBed> {
    const rateLimit = { readsPerMinute: 0, mutationsPerMinute: 0 };
    const area = await AreaBed.open({
      ...options,
      migrations: MIGRATIONS,
      modules: [AuthModule, TargetKindsModule.forRoot(), ...AREAS],
      config: { operator: operatorConfig(), rateLimit, bootstrapToken: TOKEN, ...options.config },
    });
    await area.app.listen(0, '127.0.0.1');
    const { port } = area.app.getHttpServer().address() as AddressInfo;
    const slipway = new Slipway({ baseUrl: `http://127.0.0.1:${port}`, token: TOKEN, maxRetries: 0 });
    await ensureBootstrap(area.app.get(Database, { strict: false }), area.config);
    const { tenant } = await slipway.whoAmI();
    return new ProductBed(area, slipway, tenant.id);
  }

  /** Returns the provider of a port by the port's token. */
  port<T>(token: symbol): T {
    return this.app.get<T>(token, { strict: false });
  }

  /** Creates a binding to a supplier's server, for a qualification. Returns its id. */
  async binding(baseUrl: string): Promise<string> {
    this.number += 1;
    const { products, targetBindings } = this.slipway.admin.modelApi;
    const product = { slug: `acme/model-${this.number}`, modalities: ['text' as const], supported_parameters: [] };
    const { id } = await products.create(product);
    const target = { supplier: 'acme', base_url: baseUrl, model: 'sim' };
    return (await targetBindings.create({ product_id: id, target })).id;
  }

  /**
   * Accepts the qualification of a binding, whose steps call the server one
   * after the other. Returns the operation's id.
   */
  async qualification(bindingId: string): Promise<string> {
    return (await this.slipway.admin.modelApi.targetBindings.qualify(bindingId)).operation.id;
  }
}
