/** A step as a definition lists it: `promote`, or `soak:n` for steps that are numbered from 1. */
type BaseOf<Step extends string> = Step extends `${infer Base}:n` ? Base : Step;
type NameOf<Step extends string> = Step extends `${infer Base}:n` ? `${Base}:${number}` : Step;

declare const INPUT: unique symbol;

/**
 * The input of an operation of any kind. A step accepts its own input and a definition provides it, so in a collection
 * of all kinds neither `unknown` nor `never` fits both.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the one type that every step and every definition accepts
export type AnyInput = any;

/**
 * The priority of an operation for workers. `urgent` operations run before all others. `outbound` operations wait for a
 * host outside that a user has chosen, and may wait long.
 */
export type OperationPriority = 'urgent' | 'ordinary' | 'outbound';

/**
 * The kind of a durable operation: the only definition of its name, its steps and its undo steps. The compiler checks
 * the code that accepts an operation and the code that implements it against this definition.
 */
export interface OperationDefinition<Input = AnyInput, Step extends string = string, Unwind extends string = string> {
  readonly kind: string;
  /**
   * In the order in which they usually run. Which of them a particular operation has is decided when it is accepted.
   */
  readonly steps: readonly Step[];
  /** The undo steps, in their order, each with the forward steps that it undoes. */
  readonly unwind: { readonly [Name in Unwind]: readonly BaseOf<Step>[] };
  /** Which undo steps exist for this input; all by default. */
  readonly wayBackOf?: (input: Input) => readonly Unwind[];
  /**
   * The accepting request already begins what the undo steps undo. So the first step counts as begun, even if the
   * operation is cancelled before that step runs.
   */
  readonly unwindsAcceptance?: boolean;
  /** After this step's commit the operation can no longer be cancelled. */
  readonly pointOfNoReturn?: BaseOf<Step>;
  /** Steps that do not begin while the operation is paused. An operation without any of them cannot be paused. */
  readonly pausesBefore?: readonly BaseOf<Step>[];
  /** Steps that a person may pass (`promote`). They read the promotion from the operation's row. */
  readonly passable?: readonly BaseOf<Step>[];
  /** Type of an event to append at each step's commit, such as `rollout.step_advanced`. */
  readonly stepEvent?: string;
  /** `ordinary` by default. */
  readonly priority?: OperationPriority;
  /** Exists only as a type: the input of its steps, which is written once when the operation is accepted. */
  readonly [INPUT]?: Input;
}

export type InputOf<D> = D extends OperationDefinition<infer Input> ? Input : never;

/** The names that the steps of an accepted operation may have. */
export type StepName<D> = D extends OperationDefinition<AnyInput, infer Step> ? NameOf<Step> : never;

/** The names by which an implementation provides its steps: `soak` runs `soak:1`, `soak:2`, … */
export type StepBase<D> = D extends OperationDefinition<AnyInput, infer Step> ? BaseOf<Step> : never;

export type UnwindName<D> = D extends OperationDefinition<AnyInput, string, infer Unwind> ? Unwind : never;

/** Declares the type of an operation's input: `input: inputOf<RolloutInput>()`. */
export function inputOf<Input>(): { readonly [INPUT]?: Input } {
  return {};
}

const defined = new Map<string, OperationDefinition>();

/**
 * Registers a kind of operation.
 * @throws Error when the module is loaded, if the kind is defined already, if a step is listed twice, or if an undo
 * step undoes an unknown step
 */
export function defineOperation<Input, const Step extends string, const Unwind extends string = never>(options: {
  kind: string;
  input: { readonly [INPUT]?: Input };
  steps: readonly Step[];
  unwind?: { readonly [Name in Unwind]: readonly BaseOf<NoInfer<Step>>[] };
  wayBackOf?: (input: NoInfer<Input>) => readonly NoInfer<Unwind>[];
  unwindsAcceptance?: boolean;
  pointOfNoReturn?: BaseOf<NoInfer<Step>>;
  pausesBefore?: readonly BaseOf<NoInfer<Step>>[];
  passable?: readonly BaseOf<NoInfer<Step>>[];
  stepEvent?: string;
  priority?: OperationPriority;
}): OperationDefinition<Input, Step, Unwind> {
  const {
    kind,
    steps,
    unwind = {} as never,
    wayBackOf,
    unwindsAcceptance,
    pointOfNoReturn,
    pausesBefore = [],
    passable = [],
    stepEvent,
    priority,
  } = options;
  const bases = steps.map(baseName);
  const names = [...bases, ...Object.keys(unwind)];
  if (new Set(names).size < names.length) throw new Error(`operation ${kind} lists a step twice`);
  const named = [
    ...Object.values<readonly string[]>(unwind).flat(),
    ...(pointOfNoReturn ? [pointOfNoReturn] : []),
    ...pausesBefore,
    ...passable,
  ];
  const unknown = named.filter((name) => !bases.includes(name));
  if (unknown.length > 0) throw new Error(`operation ${kind} has no step ${unknown.join(', ')}`);
  if (defined.has(kind)) throw new Error(`operation kind ${kind} is defined twice`);
  const control = { pointOfNoReturn, pausesBefore, passable };
  const definition = { kind, steps, unwind, wayBackOf, unwindsAcceptance, ...control, stepEvent, priority };
  defined.set(kind, definition as unknown as OperationDefinition);
  return definition;
}

export function priorityOf({ priority }: Pick<OperationDefinition, 'priority'>): OperationPriority {
  return priority ?? 'ordinary';
}

/** All definitions that the loaded modules have made. */
export function definedOperations(): OperationDefinition[] {
  return [...defined.values()];
}

/** Returns `soak` for `soak:2` and for `soak:n`. */
export function baseName(step: string): string {
  return step.split(':')[0] as string;
}
