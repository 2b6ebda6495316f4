import { type ChangeKind, isSame, type ComponentSchemas, type Schema } from './document.js';
import { variantsOf, withoutTexts, type Variant } from './variants.js';

/** Clients write requests and read responses: a request may gain what a response may lose. */
export type Direction = 'request' | 'response';

type ReportChange = (kind: ChangeKind, what: string) => void;

const LOWER = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const UPPER = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];
/** A value either fits or does not; two of them have no order. */
const SHAPES = ['format', 'pattern', 'multipleOf', 'uniqueItems', 'propertyNames'];
const HINTS = ['default', 'deprecated', 'readOnly', 'writeOnly'];
const KNOWN = new Set([
  ...[...LOWER, ...UPPER, ...SHAPES, ...HINTS],
  ...['type', 'enum', 'const', 'items', 'properties', 'required', 'additionalProperties'],
]);

/**
 * Compares the schemas of one operation in one direction. A component is compared once, and named instead of the path
 * to it.
 */
export class SchemaComparison {
  private readonly seen = new Set<string>();

  constructor(
    private readonly components: { before: ComponentSchemas; after: ComponentSchemas },
    private readonly direction: Direction,
    private readonly say: ReportChange,
  ) {}

  /** @param where the location, for readers */
  compare(before: Schema, after: Schema, where: string): void {
    const gone = variantsOf(before, this.components.before);
    const come = variantsOf(after, this.components.after);
    for (const [one, other] of takePairs(gone, come)) this.comparePair(one, other, where);
    for (const variant of gone) this.report('broken', 'changed', where, `is no longer ${named(variant)}`);
    for (const variant of come) this.report('added', 'broken', where, `may be ${named(variant)}`);
  }

  private comparePair(before: Variant, after: Variant, where: string): void {
    const isComponent = before.name !== undefined && after.name !== undefined;
    const isPlain = isSame(before.beside, after.beside);
    if (isComponent) {
      const beside = isPlain ? [] : [before.beside, after.beside];
      const pair = JSON.stringify([before.name, after.name, before.type, after.type, ...beside]);
      if (this.seen.has(pair)) return;
      this.seen.add(pair);
    }
    // A difference next to the reference does not belong to the component.
    const location = isComponent && isPlain ? `${this.direction} ${before.name}` : where;
    if (before.type !== after.type) {
      const isWider = covers(after.type, before.type);
      const what = `is ${after.type} instead of ${before.type}`;
      this.report(isWider ? 'changed' : 'broken', isWider ? 'broken' : 'changed', location, what);
    }
    this.compareValues(before.schema, after.schema, location);
    this.compareProperties(before.schema, after.schema, location);
    this.compareOthers(before.schema['additionalProperties'], after.schema['additionalProperties'], location);
    if (before.schema['items'] !== undefined || after.schema['items'] !== undefined)
      this.compare(schemaOf(before.schema['items']), schemaOf(after.schema['items']), `${location}[]`);
  }

  private compareValues(before: Schema, after: Schema, where: string): void {
    this.compareEnums(valuesOf(before), valuesOf(after), where);
    for (const keyword of [...LOWER, ...UPPER, ...SHAPES, ...HINTS, ...unknownTo(before, after)]) {
      const [old, now] = [before[keyword], after[keyword]];
      if (isSame(old, now)) continue;
      const what = `${keyword} is ${shown(now)} instead of ${shown(old)}`;
      this.report(...kindsOf(keyword, old, now), where, what);
    }
  }

  private compareEnums(before: unknown[] | undefined, after: unknown[] | undefined, where: string): void {
    if (before === undefined && after === undefined) return;
    if (before === undefined) {
      this.report('broken', 'changed', where, `is only one of ${after!.join(', ')}`);
    } else if (after === undefined) {
      this.report('changed', 'changed', where, 'is no longer one of a list');
    } else {
      const lost = before.filter((value) => !after.includes(value));
      const found = after.filter((value) => !before.includes(value));
      if (lost.length > 0) this.report('broken', 'changed', where, `is no longer ${lost.join(', ')}`);
      if (found.length > 0) this.report('added', 'changed', where, `may be ${found.join(', ')}`);
    }
  }

  private compareProperties(before: Schema, after: Schema, where: string): void {
    const old = (before['properties'] ?? {}) as Record<string, Schema>;
    const now = (after['properties'] ?? {}) as Record<string, Schema>;
    const isRequired = (schema: Schema, name: string): boolean =>
      ((schema['required'] as string[] | undefined) ?? []).includes(name);
    for (const name of new Set([...Object.keys(old), ...Object.keys(now)])) {
      const location = `${where}.${name}`;
      const [was, is] = [isRequired(before, name), isRequired(after, name)];
      if (!(name in now)) {
        this.report('broken', 'broken', location, 'was removed');
      } else if (!(name in old)) {
        const isAsked = is && this.direction === 'request';
        this.report(is ? 'broken' : 'added', 'added', location, isAsked ? 'is new and required' : 'is new');
      } else {
        if (is && !was) this.report('broken', 'changed', location, 'is required');
        if (was && !is) this.report('changed', 'broken', location, 'is no longer required');
        this.compare(old[name]!, now[name]!, location);
      }
    }
  }

  /** Compares the rule for fields that no property names. */
  private compareOthers(before: unknown, after: unknown, where: string): void {
    const [was, is] = [before !== false, after !== false];
    if (was && is) {
      if (isSchema(before) || isSchema(after)) this.compare(schemaOf(before), schemaOf(after), `${where}.*`);
    } else if (was !== is) {
      this.report(is ? 'added' : 'broken', 'changed', where, is ? 'may have other fields' : 'has no other fields');
    }
  }

  private report(inRequest: ChangeKind, inResponse: ChangeKind, where: string, what: string): void {
    this.say(this.direction === 'request' ? inRequest : inResponse, `${where} ${what}`);
  }
}

/**
 * Takes out the variants that exist on both sides: the same component if there is one, else the same type, else one
 * that contains the other.
 */
function takePairs(before: Variant[], after: Variant[]): [Variant, Variant][] {
  const rules = [
    (one: Variant, other: Variant) => one.type === other.type && one.name === other.name,
    (one: Variant, other: Variant) => one.type === other.type,
    (one: Variant, other: Variant) => covers(one.type, other.type) || covers(other.type, one.type),
  ];
  const pairs: [Variant, Variant][] = [];
  for (const isPair of rules) {
    for (const one of [...before]) {
      const other = after.find((candidate) => isPair(one, candidate));
      if (other === undefined) continue;
      pairs.push([one, other]);
      before.splice(before.indexOf(one), 1);
      after.splice(after.indexOf(other), 1);
    }
  }
  return pairs;
}

function covers(wide: string, narrow: string): boolean {
  return wide === 'any' || (wide === 'number' && narrow === 'integer');
}

/** Returns the kind of a differing keyword in a request, and in a response. An unknown keyword counts as a break. */
function kindsOf(keyword: string, before: unknown, after: unknown): [ChangeKind, ChangeKind] {
  if (LOWER.includes(keyword))
    return [limit(after, -Infinity) > limit(before, -Infinity) ? 'broken' : 'changed', 'changed'];
  if (UPPER.includes(keyword))
    return [limit(after, Infinity) < limit(before, Infinity) ? 'broken' : 'changed', 'changed'];
  if (SHAPES.includes(keyword)) {
    const isFreer = after === undefined || after === false;
    return [isFreer ? 'changed' : 'broken', keyword === 'format' && before !== undefined ? 'broken' : 'changed'];
  }
  return HINTS.includes(keyword) || keyword.startsWith('x-') ? ['changed', 'changed'] : ['broken', 'broken'];
}

function limit(value: unknown, open: number): number {
  return typeof value === 'number' ? value : open;
}

function unknownTo(before: Schema, after: Schema): string[] {
  const keywords = new Set(Object.keys(withoutTexts({ ...before, ...after })));
  return [...keywords].filter((keyword) => !KNOWN.has(keyword));
}

function valuesOf(schema: Schema): unknown[] | undefined {
  return 'const' in schema ? [schema['const']] : (schema['enum'] as unknown[] | undefined);
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}

function schemaOf(value: unknown): Schema {
  return isSchema(value) ? value : {};
}

function named({ name, type }: Variant): string {
  return name ?? type;
}

function shown(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value);
}
