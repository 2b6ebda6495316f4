import { copyOf } from './held-text.js';

/**
 * An event around its text. Events of one stream mostly differ only in the text: one of a known shape need not be parsed
 * again. Texts are Latin-1, a character for each byte.
 */
export interface EventShape {
  before: string;
  after: string;
}

const TEXT_START = /"(?:content|text|reasoning|reasoning_content|refusal|arguments)": ?"(?!")/;
const SPECIAL = /["\\\x00-\x1f]/;
/** The inside of a JSON string whose escapes are those of one character. */
const PLAIN_TEXT = /^(?:[^"\\\x00-\x1f]|\\["\\/bfnrt])*$/;
const MAX_SHAPE = 2 * 1024;

/** Returns the shape of an event; undefined if its text is not plain, or the event is long. */
export function shapeOf(data: string): EventShape | undefined {
  const start = data.length > MAX_SHAPE ? null : TEXT_START.exec(data);
  if (!start) return undefined;
  const from = start.index + start[0].length;
  const to = data.indexOf('"', from);
  if (to < 0 || SPECIAL.test(data.slice(from, to))) return undefined;
  return { before: copyOf(data.slice(0, from)), after: copyOf(data.slice(to)) };
}

export function isOfShape(data: string, shape: EventShape): boolean {
  const { before, after } = shape;
  if (data.length <= before.length + after.length || !data.startsWith(before) || !data.endsWith(after)) return false;
  const text = textOf(data, shape);
  return !SPECIAL.test(text) || PLAIN_TEXT.test(text);
}

/** Returns the text of an event of this shape, as it is written. */
export function textOf(data: string, { before, after }: EventShape): string {
  return data.slice(before.length, data.length - after.length);
}
