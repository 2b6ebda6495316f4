import { isObject, type JsonObject } from '../ui/text/json-shape.js';
import { linesOf, pairsText, wordsOf } from '../ui/text/listed-text.js';
import { kindOf, type Path, type Schema } from './schema.js';

/**
 * A form's copy of a value: texts as they were typed, so that half a number is no number yet. Groups and rows are as in
 * the value, and an empty field is not set.
 */
export type Draft = string | boolean | undefined | readonly Draft[] | { readonly [name: string]: Draft };

type Fields = { readonly [name: string]: Draft };

export function draftOf(schema: Schema, value: unknown): Draft {
  const kind = kindOf(schema);
  if (kind === 'group') {
    const fields = isObject(value) ? value : {};
    const names = Object.entries(schema.properties ?? {});
    return Object.fromEntries(names.map(([name, inner]) => [name, draftOf(inner, fields[name])]));
  }
  if (kind === 'rows') return (Array.isArray(value) ? value : []).map((row) => draftOf(schema.items!, row));
  if (kind === 'choices') return Array.isArray(value) ? value.map(String) : [];
  if (kind === 'check') return typeof value === 'boolean' ? value : undefined;
  if (value === undefined || value === null) return '';
  if (kind === 'words' && Array.isArray(value)) return value.join(separatorOf(schema));
  if (kind === 'pairs' && isObject(value)) return pairsText(value, '\n');
  if (kind === 'json') return JSON.stringify(value, null, 2);
  if (kind === 'moment') return localText(new Date(String(value)));
  return String(value);
}

/**
 * Returns the value of a draft; undefined if nothing is set. An unreadable text
 * stays a text, so that the schema refuses it.
 */
export function valueOf(schema: Schema, draft: Draft): unknown {
  const kind = kindOf(schema);
  if (kind === 'group') {
    const given = Object.entries(schema.properties ?? {})
      .map(([name, inner]) => [name, valueOf(inner, (draft as Fields | undefined)?.[name])] as const)
      .filter(([, value]) => value !== undefined);
    return given.length > 0 ? Object.fromEntries(given) : undefined;
  }
  if (kind === 'rows') {
    const rows = (draft as readonly Draft[] | undefined) ?? [];
    return rows.length > 0 ? rows.map((row) => valueOf(schema.items!, row) ?? {}) : undefined;
  }
  if (kind === 'choices') return Array.isArray(draft) && draft.length > 0 ? draft : undefined;
  if (kind === 'check') return draft;
  const text = typeof draft === 'string' ? draft.trim() : '';
  if (text === '') return undefined;
  if (kind === 'number') return Number.isFinite(Number(text)) ? Number(text) : text;
  if (kind === 'words') return holdsSpaces(schema) ? linesOf(text) : wordsOf(text);
  if (kind === 'pairs') return pairsOf(text) ?? text;
  if (kind === 'json') return parsed(text);
  if (kind === 'moment') return Number.isNaN(Date.parse(text)) ? text : new Date(text).toISOString();
  return text;
}

/** Returns the same draft with another value at a path. */
export function withAt(draft: Draft, [first, ...deeper]: Path, value: Draft): Draft {
  if (first === undefined) return value;
  if (typeof first === 'number')
    return ((draft as readonly Draft[]) ?? []).map((row, at) => (at === first ? withAt(row, deeper, value) : row));
  const fields = (draft as Fields | undefined) ?? {};
  return { ...fields, [first]: withAt(fields[first], deeper, value) };
}

export function draftAt(draft: Draft, path: Path): Draft {
  return path.reduce<Draft>((at, segment) => (at as Fields | undefined)?.[segment as string], draft);
}

/**
 * Whether the texts of a list may contain spaces and commas, and so take a line
 * each: the schema does not restrict them.
 */
export const holdsSpaces = ({ items }: Schema): boolean => items?.pattern === undefined;

export const separatorOf = (schema: Schema): string => (holdsSpaces(schema) ? '\n' : ', ');

/** Parses `team=search, tier=1` or one pair per line; undefined if a part is no pair. */
function pairsOf(text: string): Record<string, string> | undefined {
  const parts = text.split(/[\n,]/).map((part) => part.trim());
  const pairs = parts.filter(Boolean).map((part) => [part.slice(0, part.indexOf('=')), part] as const);
  if (pairs.some(([name, part]) => !part.includes('=') || name.trim() === '')) return undefined;
  return Object.fromEntries(pairs.map(([name, part]) => [name.trim(), part.slice(name.length + 1).trim()]));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Formats a moment for the browser's date-time field: in local time, to the second. */
function localText(at: Date): string {
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/**
 * Returns the merge patch that a form makes of the value that it began with: a field that the form cannot hold is
 * missing in both drafts, and so stays unchanged.
 */
export function patchOf(schema: Schema, began: Draft, draft: Draft): JsonObject {
  const [before, now] = [began, draft].map((one) => ({ ...(valueOf(schema, one) as JsonObject | undefined) }));
  return mergePatch(before!, now!);
}

/** Returns the merge patch (RFC 7386) that turns `from` into `to`. */
export function mergePatch(from: JsonObject, to: JsonObject): JsonObject {
  const patch: JsonObject = {};
  for (const name of Object.keys(from)) if (to[name] === undefined) patch[name] = null;
  for (const [name, value] of Object.entries(to)) {
    const before = from[name];
    if (value === undefined || JSON.stringify(before) === JSON.stringify(value)) continue;
    const isBoth = isObject(before) && isObject(value);
    const inner = isBoth ? mergePatch(before, value) : value;
    if (!isBoth || Object.keys(inner as JsonObject).length > 0) patch[name] = inner;
  }
  return patch;
}
