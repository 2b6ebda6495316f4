import { jsonKeyOf, JsonScanner } from '@slipway/platform-bounds';
import { utf8Of } from './held-text.js';

/** Which values pass at a position of a JSON text. A value that no form allows is dropped with its name. */
export interface JsonForm {
  /** Strings, numbers, true and false pass unchanged. Null always passes. */
  scalar?: boolean;
  /** Objects pass with these members. */
  members?: Readonly<Record<string, JsonForm>>;
  /** Further members pass if their name matches and their value is a number, or null. */
  numbers?: { names: RegExp; isNullable: boolean };
  /** Lists pass; an element that is not allowed becomes null. */
  items?: JsonForm;
  /** Members, as JSON, that an object gets at its end if it lacks them. */
  defaults?: Readonly<Record<string, string>>;
  /** Replaces a scalar; a result of undefined drops it. */
  replace?: (value: string | number | boolean | null) => string | number | null | undefined;
}

interface Level {
  form: JsonForm | undefined;
  isList: boolean;
  isEmpty: boolean;
  /** The names that passed, if the form has defaults. */
  names: Set<string> | undefined;
}

const MAX_DEPTH = 128;
const MAX_KEY = 128;
const MAX_REPLACED = 4 * 1024;
const NUMBER: JsonForm = { replace: (value) => (typeof value === 'number' ? value : undefined) };
const NUMBER_OR_NULL: JsonForm = { replace: (value) => (value === null ? null : NUMBER.replace?.(value)) };

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

const enum Reading {
  Structure,
  Key,
  Text,
  Word,
}

/**
 * Copies the allowed members of a JSON text while it arrives in pieces, without building its values: a piece takes time
 * and memory for its own length only, and the digits of a number stay as they are.
 */
export class JsonFilter {
  private readonly scanner: JsonScanner;
  private readonly levels: Level[] = [];
  private reading = Reading.Structure;
  private isEscaped = false;
  private isKeyNext = false;
  /** The name of the member whose value follows, as JSON. */
  private name = '';
  private form: JsonForm | undefined;
  /** The scalar that is copied; undefined if it is dropped or kept for `replace`. */
  private isCopied = false;
  /** The key, or the scalar to replace, so far. */
  private kept = '';
  private out = '';

  /**
   * @param before members that the outermost object begins with, as JSON
   * @param maxWork see `JsonBounds`
   */
  constructor(
    private readonly root: JsonForm,
    private readonly before: string,
    maxWork: number,
  ) {
    this.scanner = new JsonScanner({ maxDepth: MAX_DEPTH, maxWork });
  }

  /** @returns Latin-1 text of the result so far. @throws JsonRefused */
  push(piece: Buffer): string {
    this.scanner.push(piece);
    const text = piece.toString('latin1');
    let at = 0;
    while (at < text.length) {
      if (this.reading === Reading.Structure) at = this.structure(text, at);
      else if (this.reading === Reading.Word) at = this.word(text, at);
      else at = this.text(text, at);
    }
    return this.taken();
  }

  /** @param after members that the outermost object ends with. @throws JsonRefused */
  end(): string {
    this.scanner.end();
    return this.taken();
  }

  private taken(): string {
    const { out } = this;
    this.out = '';
    return out;
  }

  private structure(text: string, from: number): number {
    let at = from;
    let byte = text.charCodeAt(at);
    while (isSpace(byte) || byte === COLON) byte = text.charCodeAt((at += 1));
    if (at >= text.length) return at;
    const level = this.levels.at(-1);
    switch (byte) {
      case COMMA:
        this.isKeyNext = level?.isList === false;
        return at + 1;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        this.close(byte);
        return at + 1;
      case OPEN_LIST:
      case OPEN_OBJECT:
        this.open(byte);
        return at + 1;
      case QUOTE:
        this.kept = '"';
        if (this.isKeyNext) this.reading = Reading.Key;
        else {
          this.beginScalar();
          this.reading = Reading.Text;
          if (this.isCopied) this.out += '"';
        }
        return at + 1;
      default:
        this.kept = '';
        this.beginScalar();
        this.reading = Reading.Word;
        return at;
    }
  }

  private open(byte: number): void {
    const isList = byte === OPEN_LIST;
    const isRoot = this.levels.length === 0;
    const form = isRoot ? this.root : this.nextForm();
    const isAllowed = isList ? form?.items !== undefined : form?.members !== undefined || form?.numbers !== undefined;
    if (isAllowed) {
      if (!isRoot) this.separate();
      this.out += isList ? '[' : '{';
      if (isRoot && !isList) this.out += this.before;
    } else this.refuseElement();
    const isEmpty = !(isRoot && !isList && this.before !== '');
    const names = isAllowed && form?.defaults && !isList ? new Set<string>() : undefined;
    this.levels.push({ form: isAllowed ? form : undefined, isList, isEmpty, names });
    this.isKeyNext = !isList;
  }

  private close(byte: number): void {
    const level = this.levels.at(-1);
    for (const [name, value] of level?.names ? Object.entries(level.form?.defaults ?? {}) : []) {
      if (level?.names?.has(name)) continue;
      this.name = JSON.stringify(name);
      this.separate();
      this.out += value;
    }
    this.levels.pop();
    if (level?.form) this.out += byte === CLOSE_LIST ? ']' : '}';
    this.isKeyNext = false;
  }

  private nextForm(): JsonForm | undefined {
    const level = this.levels.at(-1);
    return level?.isList ? level.form?.items : this.form;
  }

  private separate(): void {
    const level = this.levels.at(-1);
    if (!level) return;
    if (!level.isEmpty) this.out += ',';
    level.isEmpty = false;
    if (level.isList) return;
    this.out += `${this.name}:`;
    level.names?.add(this.name.slice(1, -1));
  }

  /** An element that is not allowed keeps its position. */
  private refuseElement(): void {
    const level = this.levels.at(-1);
    if (!level?.isList || !level.form) return;
    this.separate();
    this.out += 'null';
  }

  private beginScalar(): void {
    const form = this.nextForm();
    this.isCopied = form?.scalar === true && form.replace === undefined;
    if (this.isCopied) this.separate();
  }

  private word(text: string, from: number): number {
    let at = from;
    for (; at < text.length; at += 1) {
      const byte = text.charCodeAt(at);
      if (byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_OBJECT || isSpace(byte)) break;
    }
    this.scalarPiece(text, from, at);
    if (at < text.length) this.endScalar();
    return at;
  }

  private text(text: string, from: number): number {
    let at = from;
    if (this.isEscaped) {
      this.isEscaped = false;
      at += 1;
    }
    for (;;) {
      const byte = text.charCodeAt(at);
      if (at >= text.length || byte === QUOTE) break;
      if (byte === BACKSLASH) at += 1;
      at += 1;
    }
    if (at > text.length) {
      this.isEscaped = true;
      at = text.length;
    }
    const isEnd = at < text.length;
    const to = isEnd ? at + 1 : at;
    if (this.reading === Reading.Key) {
      if (this.kept.length <= MAX_KEY) this.kept += text.slice(from, to);
      if (isEnd) this.endKey();
    } else {
      this.scalarPiece(text, from, to);
      if (isEnd) this.endScalar();
    }
    return to;
  }

  private endKey(): void {
    this.reading = Reading.Structure;
    this.isKeyNext = false;
    this.form = undefined;
    const level = this.levels.at(-1);
    if (!level?.form || this.kept.length > MAX_KEY) return;
    const bytes = Buffer.from(this.kept, 'latin1');
    const name = jsonKeyOf(bytes, 0, bytes.length);
    this.name = JSON.stringify(name);
    const { members, numbers } = level.form;
    if (members && Object.hasOwn(members, name)) this.form = members[name];
    else if (numbers?.names.test(name)) {
      // The name is no fixed one: it is sent as it came.
      this.name = this.kept;
      this.form = numbers.isNullable ? NUMBER_OR_NULL : NUMBER;
    }
  }

  private scalarPiece(text: string, from: number, to: number): void {
    if (this.isCopied) this.out += text.slice(from, to);
    else if (this.kept.length <= MAX_REPLACED) this.kept += text.slice(from, to);
  }

  private endScalar(): void {
    this.reading = Reading.Structure;
    if (this.isCopied) return;
    const form = this.nextForm();
    let shown: unknown;
    if (form?.replace && this.kept.length <= MAX_REPLACED)
      shown = form.replace(JSON.parse(utf8Of(this.kept)) as string | number | boolean | null);
    else if (form && this.kept === 'null') shown = null;
    if (shown === undefined) return this.refuseElement();
    this.separate();
    // The digits of a number stay as they are.
    this.out +=
      form === NUMBER || form === NUMBER_OR_NULL ? this.kept : Buffer.from(JSON.stringify(shown)).toString('latin1');
  }
}
