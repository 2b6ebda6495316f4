import { newId, type Tx } from '@slipway/platform-database';
import {
  done,
  operationFailures,
  sleep,
  StepFailed,
  type OperationClaim,
  type OperationDefinition,
  type OperationOf,
  type Step,
  type StepContext,
  type StepOutcome,
} from '../../src/operations/index.js';
import type { OperationHarness } from '../../src/operations/testing/index.js';

export { beside, until } from '@slipway/platform-database/testing';

export const TENANT = newId('ten');
export const ACTOR = { type: 'token', id: 'test' } as const;

/** A claim of an operation by a test. */
export const claimOf = (operation: OperationDefinition, more: Partial<OperationClaim> = {}): OperationClaim => ({
  operation,
  resourceType: 'thing',
  resourceName: 'thing',
  requestedBy: ACTOR,
  ...more,
});

export interface World {
  world: string;
}

export type Run = Step<World>;

/** The table in which the steps of a test leave their effects. */
export class Effects1700000000099 {
  async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
    await runner.query('create table effects (world text, step text, times int)');
    await runner.query(`select slipway_system_table('effects')`);
  }
  async down(): Promise<void> {}
}

export async function effect(tx: Tx, { input, step }: StepContext<World>, times = 1): Promise<void> {
  await tx.query('insert into effects (world, step, times) values ($1, $2, $3)', [input.world, step.name, times]);
}

/** A step whose only work is an effect in its commit. */
export const leavesAnEffect: Run = async (context) => done({ commit: (tx) => effect(tx, context) });

/** The names of the steps whose effect an operation has left. */
export async function effectsOf({ database }: OperationHarness, id: string): Promise<string[]> {
  const rows = await database.read<{ step: string }>(
    'system',
    `select e.step from effects e join operations o on o.input->>'world' = e.world where o.id = $1 order by e.step`,
    [id],
  );
  return rows.map((row) => row.step);
}

/**
 * Everything that is written of an operation: its row, its steps, its events and its effects. If two reads are equal,
 * nothing was written.
 */
export async function everythingOf({ database }: OperationHarness, id: string): Promise<unknown> {
  const [row] = await database.read(
    'system',
    `select to_jsonb(o) as operation,
       (select jsonb_agg(to_jsonb(s) order by s.index) from operation_steps s where s.operation_id = o.id) as steps,
       (select jsonb_agg(to_jsonb(e) order by e.sequence) from events e where e.stream = o.stream) as events,
       (select jsonb_agg(to_jsonb(f) order by f.step) from effects f where f.world = o.input->>'world') as effects
     from operations o where o.id = $1`,
    [id],
  );
  return row;
}

/** The types of an operation's events, in order; for a change of status, the status. */
export async function eventsOf({ database }: OperationHarness, id: string): Promise<string[]> {
  const rows = await database.read<{ type: string; status: string }>(
    'system',
    `select type, data->>'status' as status from events where operation_id = $1 order by sequence`,
    [id],
  );
  return rows.map(({ type, status }) => (type === 'operation.status_changed' ? status : type));
}

/** A point at which a step pauses until the test lets it continue. */
export class Gate {
  readonly reached: Promise<void>;
  private readonly opened: Promise<void>;
  private arrive: () => void = () => undefined;
  open: () => void = () => undefined;

  constructor() {
    this.reached = new Promise((resolve) => (this.arrive = resolve));
    this.opened = new Promise((resolve) => (this.open = resolve));
  }

  async pass(): Promise<void> {
    this.arrive();
    await this.opened;
  }
}

type Definition = OperationDefinition<World>;

/** The optional members of a test's kind, in addition to its steps. */
export interface KindExtras
  extends
    Pick<Definition, 'unwindsAcceptance' | 'pointOfNoReturn' | 'stepEvent' | 'priority'>,
    Pick<OperationOf<Definition>, 'finish' | 'reclaim' | 'beginUnwind'> {
  /** The undo steps, in their order. */
  unwind?: readonly { name: string; undoes: readonly string[]; run: Run }[];
}

/** An operation of a kind of its own, known to all the given processes. Its steps run in the order of `steps`. */
export function script(
  harnesses: readonly OperationHarness[],
  steps: Record<string, Run>,
  more: KindExtras = {},
): { definition: Definition; operation: OperationOf<Definition>; begin(tenantId?: string): Promise<string> } {
  const { unwind = [], unwindsAcceptance, pointOfNoReturn, stepEvent, priority, ...ends } = more;
  const bases = Object.entries(steps).map(([name, run]) => [name.split(':')[0] as string, run] as const);
  const definition: Definition = {
    kind: newId('knd'),
    steps: [...new Set(bases.map(([name]) => name))],
    unwind: Object.fromEntries(unwind.map(({ name, undoes }) => [name, undoes])),
    unwindsAcceptance,
    pointOfNoReturn,
    stepEvent,
    priority,
  };
  const operation: OperationOf<Definition> = {
    steps: Object.fromEntries(bases),
    unwind: Object.fromEntries(unwind.map(({ name, run }) => [name, run])),
    ...ends,
  };
  for (const harness of harnesses) harness.add(definition, operation);
  const [first] = harnesses as [OperationHarness];
  return {
    definition,
    operation,
    begin: (tenantId = TENANT) => first.begin(tenantId, definition, { world: newId('wld') }, Object.keys(steps)),
  };
}

/** Pauses at a gate before it continues. */
export const behind =
  (gate: Gate, run: Run): Run =>
  async (context) => {
    await gate.pass();
    return run(context);
  };

/** A step that ends differently each time it runs; the last ending repeats. `count` is the number of runs. */
export function oneAfterAnother(...runs: [Run, ...Run[]]): Run & { count: number } {
  const run = Object.assign(
    (context: StepContext<World>): Promise<StepOutcome> => {
      const current = runs[Math.min(run.count, runs.length - 1)] as Run;
      run.count += 1;
      return current(context);
    },
    { count: 0 },
  );
  return run;
}

/** The ways in which a step's run may end. Each of them writes, if it is allowed to. */
export const ENDINGS: Record<string, Run> = {
  'is done': async (context) => done({ result: 'mine', message: 'mine', commit: (tx) => effect(tx, context) }),
  sleeps: async (context) =>
    sleep({ forMs: 60_000, status: 'waiting', state: { is: 'mine' }, commit: (tx) => effect(tx, context) }),
  'fails for now': async () => {
    throw new Error('mine');
  },
  'fails for good': async () => {
    throw new StepFailed(operationFailures.dependency_outage, 'mine', { evidence: 'mine', result: { is: 'mine' } });
  },
};

/** Three steps with an effect each, one of which sleeps, and an undo step. */
export const PROBE: OperationDefinition<World, 'first' | 'second' | 'third', 'undo'> = {
  kind: 'probe',
  steps: ['first', 'second', 'third'],
  unwind: { undo: ['first', 'second', 'third'] },
  pointOfNoReturn: 'third',
};

export const probe: OperationOf<typeof PROBE> = {
  steps: {
    first: async (context) => done({ result: 1, commit: (tx) => effect(tx, context) }),
    second: async (context) => {
      if (!context.state) return sleep({ forMs: 60_000, status: 'waiting', state: { isSecondTime: true } });
      return done({ commit: (tx) => effect(tx, context) });
    },
    third: async (context) =>
      done({ result: Number(context.results['first']) + 1, commit: (tx) => effect(tx, context) }),
  },
  unwind: {
    undo: async ({ input }) =>
      done({ commit: async (tx) => void (await tx.query('delete from effects where world = $1', [input.world])) }),
  },
};
