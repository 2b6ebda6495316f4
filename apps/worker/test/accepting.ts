import { DiscoveryService } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import type { INestApplicationContext } from '@nestjs/common';
import { AuthModule } from '@slipway/platform-http/auth';
import { ConfigModule } from '@slipway/platform-config';
import { Database, DatabaseModule } from '@slipway/platform-database';
import { HttpModule, type Principal } from '@slipway/platform-http';
import { platformModules, testConfig } from '@slipway/platform-durable/operations/testing';
import { AREAS, TargetKindsModule } from '@slipway/registry';
import { operatorConfig } from './operator-config.js';

const PRINCIPAL: Principal = {
  tenantId: 'ten_1',
  tenantName: 'default',
  isOperatorTenant: true,
  actor: { type: 'token', id: 'test' },
  scopes: new Set(['admin', 'operator', 'viewer']),
  owner: { type: 'person', id: 'alice' },
  minters: [],
};

/** What the api does beside a worker: it accepts operations and runs none. */
export class Accepting {
  private number = 0;

  private constructor(private readonly context: INestApplicationContext) {}

  static async start(databaseUrl: string): Promise<Accepting> {
    const config = testConfig(databaseUrl, { operator: operatorConfig() });
    const module = await Test.createTestingModule({
      imports: [
        ConfigModule.forRoot(config),
        DatabaseModule.forRoot(config),
        HttpModule,
        AuthModule,
        ...platformModules('api'),
        TargetKindsModule.forRoot(),
        ...AREAS,
      ],
    }).compile();
    const context = await module.init();
    const { tenantId, tenantName } = PRINCIPAL;
    // What the configuration allows, it allows by name.
    await context
      .get(Database, { strict: false })
      .tx('system', (tx) => tx.query('insert into tenants (id, name) values ($1, $2)', [tenantId, tenantName]));
    return new Accepting(context);
  }

  stop(): Promise<void> {
    return this.context.close();
  }

  /** A binding to a supplier's server, to be qualified. Returns its id. */
  async binding(baseUrl: string): Promise<string> {
    this.number += 1;
    const product = { slug: `acme/model-${this.number}`, modalities: ['text'], supported_parameters: [] };
    const { id } = (await this.service('ProductsService').create(PRINCIPAL, product)).body;
    const target = { supplier: 'acme', base_url: baseUrl, model: 'sim' };
    return (await this.service('BindingsService').create(PRINCIPAL, { product_id: id, target })).body.id;
  }

  /** Accepts the qualification of a binding: its steps call the server one after the other. Returns the operation's id. */
  async qualification(bindingId: string): Promise<string> {
    const { body } = await this.service('BindingsService').qualify(PRINCIPAL, bindingId);
    return JSON.parse(body.text).operation.id;
  }

  /** A provider by its class: apps know the registry, not the areas behind it. */
  private service(name: string): any {
    return this.context
      .get(DiscoveryService, { strict: false })
      .getProviders()
      .find((one) => (one.token as { name?: string } | undefined)?.name === name)?.instance;
  }
}
