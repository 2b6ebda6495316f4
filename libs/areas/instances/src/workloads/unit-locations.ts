import { isDeepStrictEqual } from 'node:util';
import type { UnitLocation } from '@slipway/target-driver';

/**
 * A driver makes a generation only after the units of older generations have ended in all locations of the list. So the
 * oldest locations can be left out when there are very many.
 */
const MOST_LOCATIONS = 8;

/** Adds a location as the newest one. Returns the same list if it is the newest one already. */
export function locationsWith(known: UnitLocation[] | null, location: UnitLocation): UnitLocation[] {
  if (known && isDeepStrictEqual(known.at(-1), location)) return known;
  const others = (known ?? []).filter((one) => !isDeepStrictEqual(one, location));
  return [...others, location].slice(-MOST_LOCATIONS);
}

/** All locations in lists of several instances, each once. */
export function distinctLocations(lists: readonly (UnitLocation[] | null)[]): UnitLocation[] {
  const found = new Map<string, UnitLocation>();
  for (const location of lists.flatMap((list) => list ?? [])) found.set(JSON.stringify(location), location);
  return [...found.values()];
}
