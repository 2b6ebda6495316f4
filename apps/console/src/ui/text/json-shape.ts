/** Values of an unknown shape, such as the free fields of a record, which another version of the api may have stored. */
export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the object, or an empty one for any other value. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** Returns the list, or an empty one for any other value. */
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export const objectsOf = (value: unknown): JsonObject[] => listOf(value).map(objectOf);
