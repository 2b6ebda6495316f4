import type { Type } from '@nestjs/common';
import { IdentityModule, migrations as identity } from '@slipway/area-identity';
import { SystemModule, migrations as system } from '@slipway/area-system';
import { migrations as auth } from '@slipway/platform-auth';
import { migrations as database, type Migration } from '@slipway/platform-database';
import { migrations as operations } from '@slipway/platform-operations';

/** The product's areas: one line each, and nothing else. Api and worker build the same list. */
export const AREAS: Type[] = [IdentityModule, SystemModule];

/** TypeORM entities of all areas. */
export const ENTITIES: Function[] = [];

/** Every migration of the product; their timestamps give the order. */
export const MIGRATIONS: Migration[] = [...database, ...auth, ...operations, ...identity, ...system];
