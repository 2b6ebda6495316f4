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
