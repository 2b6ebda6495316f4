/** Why a text is refused: it is not JSON, it exceeds a bound of its reader, or its strings are no Unicode. */
export type JsonFault = 'malformed' | 'too_deep' | 'too_much' | 'lone_surrogate';

export class JsonRefused extends Error {
  constructor(readonly fault: JsonFault) {
    super(`the JSON text is ${fault.replace('_', ' ')}`);
  }
}

export interface JsonBounds {
  /** Levels of arrays and objects. */
  maxDepth: number;
  /**
   * The most work that parsing may take: 1 for a scalar, 10 for an array, an object or a key. `JSON.parse` needs about
   * 50 ms for a million.
   */
  maxWork?: number;
  /**
   * Whether to refuse the escape of half a surrogate pair. `JSON.parse` accepts it, but UTF-8 cannot express it, and
   * other readers fail on it, replace it or drop it.
   */
  isUnicode?: boolean;
}

/** A member of the outermost object, as offsets into the text. `keyStart` and `keyEnd` include the quotes. */
export interface JsonMember {
  keyStart: number;
  keyEnd: number;
  valueStart: number;
  valueEnd: number;
}

const CONTAINER_WORK = 10;
/** An outermost object with more members is refused, because each member is remembered. */
const MAX_MEMBERS = 1_024;

const enum State {
  Value,
  /** After `[`. */
  ValueOrClose,
  /** After `{`. */
  KeyOrClose,
  Key,
  Colon,
  AfterValue,
  Text,
  Escape,
  Hex,
  /** After the escape of the first half of a surrogate pair. */
  LowEscape,
  LowEscapeU,
  Word,
  Minus,
  Zero,
  Digits,
  Point,
  Fraction,
  Exponent,
  ExponentSign,
  ExponentDigits,
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const DIGIT_0 = 0x30;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const WORDS: Readonly<Record<number, readonly number[]>> = Object.fromEntries(
  ['true', 'false', 'null'].map((word) => [word.charCodeAt(0), [...word].map((letter) => letter.charCodeAt(0))]),
);
const tableOf = (has: (byte: number) => boolean): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, byte) => +has(byte));
/** The bytes that need no escape in a string. */
const IS_PLAIN = tableOf((byte) => byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH);
const IS_SPACE = tableOf((byte) => [0x20, 0x09, 0x0a, 0x0d].includes(byte));
const IS_DIGIT = tableOf((byte) => byte >= DIGIT_0 && byte <= 0x39);
const IS_HEX = tableOf((byte) => /^[0-9a-f]$/i.test(String.fromCharCode(byte)));
const IS_ESCAPABLE = tableOf((byte) => '"\\/bfnrt'.includes(String.fromCharCode(byte)));

/**
 * Checks a JSON text while it arrives, in pieces of any size, and finds the members of its outermost object.
 * It builds no values: its memory does not grow with the text, and the time for a piece depends only on its length.
 * `JSON.parse` of 32 MiB of `[],` blocks a process for seconds.
 * Except for the bounds, it accepts exactly the texts that `JSON.parse` accepts (RFC 8259).
 */
export class JsonScanner {
  private state = State.Value;
  private isKey = false;
  private word: readonly number[] = [];
  /** How many bytes of the word, or digits of the `\u` escape, have been read. */
  private read = 0;
  /** The value of the `\u` escape so far. */
  private code = 0;
  /** Whether this escape must be the second half of a surrogate pair. */
  private isLow = false;
  private depth = 0;
  /** Whether the container at each level is an object. */
  private readonly isObjectAt: boolean[] = [false];
  private work = 0;
  private offset = 0;
  /** Four offsets for each member. */
  private readonly marks: number[] = [];

  constructor(private readonly bounds: JsonBounds) {}

  /** @throws JsonRefused if the text is malformed or exceeds a bound */
  push(piece: Uint8Array): void {
    const base = this.offset;
    const { length } = piece;
    let at = 0;
    while (at < length) {
      const byte = piece[at] as number;
      switch (this.state) {
        case State.Text:
          while (at < length && IS_PLAIN[piece[at] as number]) at += 1;
          if (at === length) break;
          if (piece[at] === QUOTE) this.endText(base + at + 1);
          else if (piece[at] === BACKSLASH) this.state = State.Escape;
          else throw new JsonRefused('malformed');
          at += 1;
          break;
        case State.AfterValue:
          if (!IS_SPACE[byte]) this.afterValue(byte, base + at);
          at += 1;
          break;
        case State.Value:
        case State.ValueOrClose:
          if (!IS_SPACE[byte]) this.beginValue(byte, base + at);
          at += 1;
          break;
        case State.Key:
        case State.KeyOrClose:
          if (!IS_SPACE[byte]) this.beginKey(byte, base + at);
          at += 1;
          break;
        case State.Colon:
          if (byte === 0x3a) this.state = State.Value;
          else if (!IS_SPACE[byte]) throw new JsonRefused('malformed');
          at += 1;
          break;
        case State.Digits:
        case State.Fraction:
        case State.ExponentDigits:
          while (at < length && IS_DIGIT[piece[at] as number]) at += 1;
          if (at < length) at += this.inNumber(piece[at] as number, base + at);
          break;
        case State.Escape:
          if (byte === 0x75) {
            this.beginHex(false);
          } else if (IS_ESCAPABLE[byte]) this.state = State.Text;
          else throw new JsonRefused('malformed');
          at += 1;
          break;
        case State.Hex:
          if (!IS_HEX[byte]) throw new JsonRefused('malformed');
          this.read += 1;
          this.code = (this.code << 4) | ((byte & 0xf) + (byte > 0x39 ? 9 : 0));
          if (this.read === 4) this.endHex();
          at += 1;
          break;
        case State.LowEscape:
          if (byte !== BACKSLASH) throw new JsonRefused('lone_surrogate');
          this.state = State.LowEscapeU;
          at += 1;
          break;
        case State.LowEscapeU:
          if (byte !== 0x75) throw new JsonRefused('lone_surrogate');
          this.beginHex(true);
          at += 1;
          break;
        case State.Word:
          if (byte !== this.word[this.read]) throw new JsonRefused('malformed');
          this.read += 1;
          if (this.read === this.word.length) this.endValue(base + at + 1);
          at += 1;
          break;
        default:
          at += this.inNumber(byte, base + at);
      }
    }
    this.offset = base + length;
  }

  /** Called after the last piece. @throws JsonRefused if the text is incomplete */
  end(): void {
    if (this.depth > 0) throw new JsonRefused('malformed');
    if (isEndOfNumber(this.state)) this.endValue(this.offset);
    if (this.state !== State.AfterValue) throw new JsonRefused('malformed');
  }

  /**
   * Returns the members of the outermost object, in the order of the text; empty if the text is not an object. A name
   * may occur twice. Before the end of the text, only complete members are returned.
   * @param from how many members to skip
   */
  members(from = 0): JsonMember[] {
    const members: JsonMember[] = [];
    const { marks } = this;
    for (let at = 4 * from; at + 4 <= marks.length; at += 4)
      members.push({
        keyStart: marks[at] as number,
        keyEnd: marks[at + 1] as number,
        valueStart: marks[at + 2] as number,
        valueEnd: marks[at + 3] as number,
      });
    return members;
  }

  /**
   * The member of the outermost object that has begun and is incomplete. It has no `keyEnd` if its name is incomplete.
   */
  unfinished(): (Pick<JsonMember, 'keyStart'> & Partial<JsonMember>) | undefined {
    const begun = this.marks.length % 4;
    if (begun === 0) return undefined;
    const [keyStart, keyEnd, valueStart] = this.marks.slice(-begun);
    return { keyStart: keyStart as number, keyEnd, valueStart };
  }

  private get isAtTop(): boolean {
    return this.depth === 1 && this.isObjectAt[1] === true;
  }

  private spend(work: number): void {
    this.work += work;
    if (this.bounds.maxWork !== undefined && this.work > this.bounds.maxWork) throw new JsonRefused('too_much');
  }

  private beginKey(byte: number, at: number): void {
    if (byte === CLOSE_BRACE && this.state === State.KeyOrClose) return this.close(at + 1);
    if (byte !== QUOTE) throw new JsonRefused('malformed');
    this.spend(CONTAINER_WORK);
    if (this.isAtTop) {
      if (this.marks.length >= 4 * MAX_MEMBERS) throw new JsonRefused('too_much');
      this.marks.push(at);
    }
    this.isKey = true;
    this.state = State.Text;
  }

  private beginValue(byte: number, at: number): void {
    if (byte === CLOSE_BRACKET && this.state === State.ValueOrClose) return this.close(at + 1);
    const isContainer = byte === OPEN_BRACE || byte === OPEN_BRACKET;
    this.spend(isContainer ? CONTAINER_WORK : 1);
    if (this.isAtTop) this.marks.push(at);
    if (isContainer) return this.open(byte === OPEN_BRACE);
    if (byte === QUOTE) {
      this.isKey = false;
      this.state = State.Text;
    } else if (byte === MINUS) this.state = State.Minus;
    else if (byte === DIGIT_0) this.state = State.Zero;
    else if (IS_DIGIT[byte]) this.state = State.Digits;
    else {
      const word = WORDS[byte];
      if (!word) throw new JsonRefused('malformed');
      this.word = word;
      this.read = 1;
      this.state = State.Word;
    }
  }

  private beginHex(isLow: boolean): void {
    this.isLow = isLow;
    this.code = this.read = 0;
    this.state = State.Hex;
  }

  private endHex(): void {
    this.state = State.Text;
    if (!this.bounds.isUnicode) return;
    const isLow = this.code >= 0xdc00 && this.code <= 0xdfff;
    if (isLow !== this.isLow) throw new JsonRefused('lone_surrogate');
    if (this.code >= 0xd800 && this.code < 0xdc00) this.state = State.LowEscape;
  }

  private open(isObject: boolean): void {
    this.depth += 1;
    if (this.depth > this.bounds.maxDepth) throw new JsonRefused('too_deep');
    this.isObjectAt[this.depth] = isObject;
    this.state = isObject ? State.KeyOrClose : State.ValueOrClose;
  }

  private close(end: number): void {
    this.depth -= 1;
    this.endValue(end);
  }

  private endText(end: number): void {
    if (!this.isKey) return this.endValue(end);
    if (this.isAtTop) this.marks.push(end);
    this.state = State.Colon;
  }

  private endValue(end: number): void {
    if (this.isAtTop) this.marks.push(end);
    this.state = State.AfterValue;
  }

  private afterValue(byte: number, at: number): void {
    if (this.depth === 0) throw new JsonRefused('malformed');
    const isObject = this.isObjectAt[this.depth];
    if (byte === COMMA) this.state = isObject ? State.Key : State.Value;
    else if (byte === (isObject ? CLOSE_BRACE : CLOSE_BRACKET)) this.close(at + 1);
    else throw new JsonRefused('malformed');
  }

  /** @returns 0 if the byte ended the number and must be read again */
  private inNumber(byte: number, at: number): 0 | 1 {
    const { state } = this;
    const isDigit = IS_DIGIT[byte] === 1;
    const isExponent = byte === 0x65 || byte === 0x45;
    if (state === State.Minus && isDigit) this.state = byte === DIGIT_0 ? State.Zero : State.Digits;
    else if (state === State.Point && isDigit) this.state = State.Fraction;
    else if ((state === State.Exponent || state === State.ExponentSign) && isDigit) this.state = State.ExponentDigits;
    else if (state === State.Exponent && (byte === MINUS || byte === 0x2b)) this.state = State.ExponentSign;
    else if ((state === State.Zero || state === State.Digits) && byte === POINT) this.state = State.Point;
    else if ((state === State.Zero || state === State.Digits || state === State.Fraction) && isExponent)
      this.state = State.Exponent;
    else if (isEndOfNumber(state)) {
      this.endValue(at);
      return 0;
    } else throw new JsonRefused('malformed');
    return 1;
  }
}

function isEndOfNumber(state: State): boolean {
  return state === State.Zero || state === State.Digits || state === State.Fraction || state === State.ExponentDigits;
}

/** The name of a member. @param text the complete text that was scanned */
export function jsonKeyOf(text: Buffer, keyStart: number, keyEnd: number): string {
  const raw = text.toString('utf8', keyStart + 1, keyEnd - 1);
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
}
