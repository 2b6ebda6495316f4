import type { Schemas } from '@slipway/sdk';
import { mergePatch } from '../../../forms/draft.js';
import type { JsonObject } from '../../../ui/text/json-shape.js';

export type RolloutBody = Schemas['RolloutDto'];
type Spec = NonNullable<RolloutBody['spec']>;
/** A spec as it was typed or answered, or none. */
type AnySpec = Spec | Schemas['RevisionSpecDto'] | null | undefined;

/** The engine's arguments as they were typed. An empty one is not set. */
export type ArgTexts = Readonly<Record<string, string>>;

export interface ArgType {
  name: string;
  type: string;
}

export interface ActiveRevision {
  name: string;
  spec: Schemas['RevisionSpecDto'];
}

type Strategy = Schemas['StrategyDto'];

const FIRST_STEPS: Schemas['StrategyStepDto'][] = [
  { traffic_percent: 10, soak_seconds: 60 },
  { traffic_percent: 100, soak_seconds: 60 },
];

/** Whether traffic moves in steps, so that there are soaks and gates. */
export const hasSteps = (strategy: string): boolean => !['immediate', 'candidate', ''].includes(strategy);

/** Whether the previous revision stays up, so that a bake after the promotion can roll back to it. */
export const canBake = (strategy: string): boolean => ['canary', 'blue_green', 'immediate'].includes(strategy);

/**
 * Returns what a request without a strategy does; undefined if it has one, or a plan that has one.
 * @param ofDeployment the type of the deployment's default strategy
 */
export function withoutStrategy(body: object, ofDeployment: string | undefined): string | undefined {
  const { strategy, plan_id } = body as { strategy?: unknown; plan_id?: unknown };
  if (strategy !== undefined || plan_id !== undefined) return undefined;
  if (ofDeployment) return `The rollout follows the default strategy of the deployment, ${words(ofDeployment)}.`;
  return 'The deployment has no default strategy: the new revision will be ready, but it gets no traffic. Choose a strategy to move traffic.';
}

const words = (name: string): string => name.replaceAll('_', ' ');

/** Returns the initial steps of a strategy: a strategy with one step leaves them to the api. */
export const stepsOf = (strategy: string): Schemas['StrategyStepDto'][] =>
  strategy === 'canary' || strategy === 'auto' ? FIRST_STEPS : [];

/** Makes the initial request from the deployment's defaults. `argTextsOf` returns the arguments separately. */
export function beginningOf(
  active: ActiveRevision | undefined,
  strategy: Strategy | null,
  analysis: Schemas['AnalysisDto'] | null,
): Partial<RolloutBody> {
  const type = active ? 'canary' : 'immediate';
  // The api accepts what it has answered, also values that this version does not know.
  return {
    ...(active && { spec: withArgs(active.spec, undefined) }),
    strategy: strategy ?? { type, steps: stepsOf(type) },
    ...(analysis && hasSteps(strategy?.type ?? type) && { analysis }),
  } as Partial<RolloutBody>;
}

export const argTextsOf = (spec: AnySpec): ArgTexts =>
  Object.fromEntries(Object.entries(spec?.runtime.args ?? {}).map(([name, value]) => [name, argText(value)]));

/**
 * Makes the request: a patch of the active revision if there is one. `began` is the form's initial state, made from
 * that revision: a field that the form cannot hold is missing in both, and so stays unchanged.
 * @throws Error that describes an invalid argument in words
 */
export function bodyOf(
  given: RolloutBody,
  began: RolloutBody,
  args: ArgTexts,
  declared: readonly ArgType[],
  active: ActiveRevision | undefined,
): RolloutBody {
  const { spec, ...rest } = given;
  const before = active?.spec.runtime.args ?? {};
  const whole = withArgs(spec, argsOf(args, declared, before));
  if (!active) return { spec: whole, ...rest };
  return {
    spec_patch: mergePatch(withArgs(began.spec, before) as unknown as JsonObject, whole as unknown as JsonObject),
    base_revision: active.name,
    expected_active_revision: active.name,
    ...rest,
  };
}

function withArgs(spec: AnySpec, args: JsonObject | undefined): Spec {
  const { args: _, ...runtime } = spec?.runtime ?? { target: '' };
  return { ...(spec as Spec), runtime: { ...runtime, ...(args && { args }) } };
}

function argsOf(args: ArgTexts, declared: readonly ArgType[], before: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(args)
      .filter(([, text]) => text !== '')
      .map(([name, text]) => {
        // An untouched argument keeps its type, whatever the engine declares today.
        if (before[name] !== undefined && argText(before[name]) === text) return [name, before[name]];
        return [name, argValue(declared.find((one) => one.name === name)?.type ?? 'string', name, text)];
      }),
  );
}

export const argText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

export function argValue(type: string, name: string, text: string): unknown {
  if (type === 'integer' || type === 'number') return numberOf(text, name, type === 'integer');
  if (type === 'boolean') return text === 'true';
  if (type === 'json') assertJson(text, name);
  // The api takes JSON as text, too: the engine reads it.
  return text;
}

function assertJson(text: string, what: string): void {
  try {
    JSON.parse(text);
  } catch {
    throw new Error(`${what} is not valid JSON.`);
  }
}

function numberOf(text: string, what: string, isWhole = false): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new Error(`${what} is not a number.`);
  if (isWhole && !Number.isInteger(value)) throw new Error(`${what} is not a whole number.`);
  return value;
}
