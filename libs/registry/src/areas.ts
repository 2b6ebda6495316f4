import type { Type } from '@nestjs/common';
import { DeploymentsModule, entities as deploymentEntities, migrations as deployments } from '@slipway/area-deployments';
import { IdentityModule, migrations as identity } from '@slipway/area-identity';
import { OperationsAreaModule } from '@slipway/area-operations';
import { RevisionsModule, migrations as revisions } from '@slipway/area-revisions';
import { entities as routeEntities, RoutingModule, migrations as routing } from '@slipway/area-routing';
import { SystemModule, migrations as system } from '@slipway/area-system';
import { TargetsModule, migrations as targets } from '@slipway/area-targets';
import { migrations as dataplane } from '@slipway/dataplane';
import { migrations as auth } from '@slipway/platform-auth';
import { migrations as database, type Migration } from '@slipway/platform-database';
import { migrations as operations } from '@slipway/platform-operations';

/** The product's areas: one line each, and nothing else. Api and worker build the same list. */
export const AREAS: Type[] = [
  DeploymentsModule,
  IdentityModule,
  OperationsAreaModule,
  RevisionsModule,
  RoutingModule,
  SystemModule,
  TargetsModule,
];

/** TypeORM entities of all areas. */
export const ENTITIES: Function[] = [...deploymentEntities, ...routeEntities];

/** Every migration of the product; their timestamps give the order. */
export const MIGRATIONS: Migration[] = [
  ...database,
  ...auth,
  ...operations,
  ...deployments,
  ...revisions,
  ...routing,
  ...targets,
  ...identity,
  ...dataplane,
  ...system,
];
