import { isRequired, kindOf, patternText, schemaAt, type Path, type Schema } from './schema.js';

/** Texts for a field that are not in the schema. */
export interface FieldWords {
  label?: string;
  /** Replaces the description in the schema. */
  hint?: string;
  placeholder?: string;
  /** The message for people if a text does not match the schema's pattern. */
  mismatch?: string;
  isReadOnly?: boolean;
  /** The usual values of a text, with their words: the form offers these alone. */
  choices?: Readonly<Record<string, string>>;
}

/**
 * How a form shows the body of a request. It is pure data, so that a test compares it with the document. A field of the
 * schema that no layout names is listed under *More*: a new field of the api can be set here from that day on.
 */
export interface Layout {
  /** Its id in the document. */
  operation: string;
  /**
   * The fields of a group that are shown at first, in order; all of them if a group is not named. The
   * body itself is `''`, rows end with `[]`.
   */
  shown: Readonly<Record<string, readonly string[]>>;
  /** Fields that the screen sets, and the form does not show. */
  fixed?: readonly string[];
  /** Maps fields that the api may name in a refusal to the form's fields. */
  aliases?: Readonly<Record<string, string>>;
  /** By the field's path. */
  words?: Readonly<Record<string, FieldWords>>;
}

/** Returns the fields of a group that are shown at first. */
export function shownIn(layout: Layout, schema: Schema, path: Path): Path[] {
  const properties = Object.keys(schemaAt(schema, path)?.properties ?? {});
  const names = layout.shown[patternText(path)] ?? properties;
  return names.map((name) => [...path, name]).filter((one) => !layout.fixed?.includes(patternText(one)));
}

/** Returns the fields within a group, at any depth, that are not shown at first. Rows have their own. */
export function moreIn(layout: Layout, schema: Schema, path: Path): Path[] {
  const all = Object.keys(schemaAt(schema, path)?.properties ?? {}).map((name) => [...path, name]);
  const shown = shownIn(layout, schema, path).map(patternText);
  return all
    .filter((one) => !layout.fixed?.includes(patternText(one)))
    .flatMap((one) => {
      if (!shown.includes(patternText(one))) return [one];
      return kindOf(schemaAt(schema, one)!) === 'group' ? moreIn(layout, schema, one) : [];
    });
}

/** Returns the contradictions between a layout and the schema of its operation. */
export function driftOf(layout: Layout, schema: Schema): string[] {
  const parsed = (text: string): Path =>
    text.split('.').flatMap((one) => (one.endsWith('[]') ? [one.slice(0, -2), 0] : [one]));
  const named = [
    ...Object.entries(layout.shown).flatMap(([group, names]) =>
      names.map((name) => (group ? `${group}.${name}` : name)),
    ),
    ...(layout.fixed ?? []),
    ...Object.entries(layout.aliases ?? {}).flat(),
    ...Object.keys(layout.words ?? {}),
  ];
  const unknown = named.filter((name) => !schemaAt(schema, parsed(name)));
  const hidden = moreIn(layout, schema, []).filter((path) => path.length === 1 && isRequired(schema, path));
  return [
    ...unknown.map((name) => `${layout.operation} has no field ${name}`),
    ...hidden.map(([name]) => `${layout.operation} needs ${name}, which its form hides`),
  ];
}

const ACRONYMS: Record<string, string> = {
  id: 'ID',
  uri: 'URI',
  url: 'URL',
  urls: 'URLs',
  slos: 'SLOs',
  gpu: 'GPU',
  ttl: 'TTL',
};
const UNITS: Record<string, string> = { seconds: 's', percent: '%', ms: 'ms', mb: 'MB' };

/** Formats a field name for people: `max_traffic_percent` is `Max traffic, %`. */
export function labelOf(name: string): string {
  const words = name.split('_');
  const unit = words.length > 1 ? UNITS[words.at(-1)!] : undefined;
  const [first, ...rest] = (unit ? words.slice(0, -1) : words).map((word) => ACRONYMS[word] ?? word);
  const text = [first![0]!.toUpperCase() + first!.slice(1), ...rest].join(' ');
  return unit ? `${text}, ${unit}` : text;
}
