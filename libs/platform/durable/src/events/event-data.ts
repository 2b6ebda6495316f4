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
  const whole = bytesOf(data);
  if (whole <= MAX_EVENT_DATA_BYTES) return data;
  // With a colon and a comma.
  const sizes = Object.entries(data)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({ name, bytes: bytesOf(name) + bytesOf(value) + 2 }))
    .sort((one, other) => other.bytes - one.bytes);
  const kept = { ...data };
  const omitted: string[] = [];
  let bytes = whole + bytesOf(OMITTED) + bytesOf([]) + 2;
  for (const field of sizes) {
    if (bytes <= MAX_EVENT_DATA_BYTES) break;
    const name = field.name.slice(0, 100);
    delete kept[field.name];
    omitted.push(name);
    bytes += bytesOf(name) + 1 - field.bytes;
  }
  return { ...kept, [OMITTED]: omitted };
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
