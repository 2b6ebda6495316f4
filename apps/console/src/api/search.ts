import type { OperationId, OptionsOf } from '@slipway/sdk';
import { useNavigate, useSearch } from '@tanstack/react-router';

/**
 * Returns the state that the screen keeps in its address: texts by name, and a function to change some. An undefined
 * or empty text is removed from the address.
 */
export function useAddress(): [
  Record<string, string | undefined>,
  (changed: Record<string, string | undefined>) => void,
] {
  const search = useSearch({ strict: false }) as Record<string, string | undefined>;
  const navigate = useNavigate();
  const change = (changed: Record<string, string | undefined>) =>
    void navigate({
      to: '.',
      search: (now: Record<string, unknown>) =>
        Object.fromEntries(
          Object.entries({ ...now, ...changed }).filter(([, value]) => value !== undefined && value !== ''),
        ),
      replace: true,
    } as never);
  return [search, change];
}

/**
 * Returns all values of an enum in the query of an operation, in the order of a filter. The compiler refuses a value
 * that the api does not have, and a missing one.
 */
export const choicesOf = <Id extends OperationId, Name extends keyof OptionsOf<Id>>(
  choices: Readonly<Record<Choice<Id, Name>, true>>,
) => Object.keys(choices) as Choice<Id, Name>[];

type Choice<Id extends OperationId, Name extends keyof OptionsOf<Id>> = NonNullable<OptionsOf<Id>[Name]> & string;
