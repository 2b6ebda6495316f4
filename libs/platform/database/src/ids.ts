import { uuidv7 } from 'uuidv7';

/** A new id: prefix, underscore, 32 hex digits of a UUIDv7. Ids of one prefix sort by the time they were made. */
export function newId(prefix: string): string {
  return `${prefix}_${uuidv7().replaceAll('-', '')}`;
}
