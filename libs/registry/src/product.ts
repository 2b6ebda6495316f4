import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { migrations as dataplane, sealed as dataplaneSealed } from '@slipway/dataplane';
// Makes the entities known to TypeORM in every process that uses Postgres through it.
import '@slipway/dataplane/entities';
import { migrations as auth } from '@slipway/platform-http/auth';
import type { Config } from '@slipway/platform-config';
import { migrations as database, type KeyUse, type Migration, type SealedColumn } from '@slipway/platform-database';
import { migrations as events } from '@slipway/platform-durable/events';
import { migrations as mutations } from '@slipway/platform-durable/mutations';
import { migrations as operations } from '@slipway/platform-durable/operations';
import { TARGET_KINDS, type TargetKind } from '@slipway/target-driver';
import * as areas from './areas.js';
import { TARGETS } from './targets.js';

/**
 * The exports of an area's index: one class whose name ends in `Module`, its tables, sealed columns and other uses of
 * keys, and its commands, if any.
 */
interface Area {
  migrations?: readonly Migration[];
  sealed?: readonly SealedColumn[];
  keyUses?: readonly KeyUse[];
  commands?: Record<string, Command>;
}

/** A command that an operator runs by hand. Returns the exit status. */
export type Command = (config: Config, args: string[]) => Promise<number>;

const LIST = Object.entries(areas) as [string, Area][];

/** Nest modules of all areas. Api and worker build the same list. */
export const AREAS: Type[] = LIST.map(([name, area]) => moduleOf(name, area));

/** Provides the kinds of targets to areas, which name none of them. */
@Module({})
export class TargetKindsModule {
  static forRoot(kinds: readonly TargetKind[] = TARGETS): DynamicModule {
    const provider = { provide: TARGET_KINDS, useValue: kinds };
    return { module: TargetKindsModule, global: true, providers: [provider], exports: [TARGET_KINDS] };
  }
}

/** Every migration of the product; their timestamps give the order. */
export const MIGRATIONS: Migration[] = [
  ...database,
  ...auth,
  ...events,
  ...mutations,
  ...operations,
  ...dataplane,
  ...LIST.flatMap(([, area]) => area.migrations ?? []),
];

/** All columns that store secrets. */
export const SEALED: SealedColumn[] = [...dataplaneSealed, ...LIST.flatMap(([, area]) => area.sealed ?? [])];

/** All other uses of keys of the ring. */
export const KEY_USES: KeyUse[] = LIST.flatMap(([, area]) => area.keyUses ?? []);

/** Commands of all areas, by name. */
export const COMMANDS: Record<string, Command> = Object.assign({}, ...LIST.map(([, area]) => area.commands ?? {}));

function moduleOf(name: string, area: Area): Type {
  const modules = Object.entries(area).filter(([exported]) => exported.endsWith('Module'));
  if (modules.length !== 1)
    throw new Error(
      `the index of the area ${name} must export exactly one class whose name ends in Module, not ${modules.length}`,
    );
  return modules[0][1] as Type;
}
