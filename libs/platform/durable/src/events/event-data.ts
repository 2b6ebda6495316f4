/**
 * The most bytes of an event's data as JSON. An event is stored once and sent to every reader of its stream and to
 * every webhook, so its size must not be that of the largest request body.
 */
export const MAX_EVENT_DATA_BYTES = 64 * 1024;

/** The field of the data that names what was left out. */
const OMITTED = 'omitted';

/**
 * Returns data of a bounded size. If it is too large, its largest fields are left out, and `omitted` names them. Small
 * fields, such as ids, versions and digests, stay, so that a reader can get the rest from the resource.
 */
export function boundedData(data: Record<string, unknown>): Record<string, unknown> {
  if (bytesOf(data) <= MAX_EVENT_DATA_BYTES) return data;
  const sizes = Object.entries(data)
    .map(([name, value]) => ({ name, bytes: bytesOf(name) + bytesOf(value) }))
    .sort((one, other) => other.bytes - one.bytes);
  const kept = { ...data };
  const omitted: string[] = [];
  let bytes = bytesOf(data);
  for (const field of sizes) {
    if (bytes <= MAX_EVENT_DATA_BYTES) break;
    delete kept[field.name];
    omitted.push(field.name.slice(0, 100));
    bytes = bytesOf({ ...kept, [OMITTED]: omitted });
  }
  return { ...kept, [OMITTED]: omitted };
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
