import { useNavigate, useSearch } from '@tanstack/react-router';

/** What the screen keeps in its address: texts by name, and how to change some. What is undefined or empty leaves the address. */
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
