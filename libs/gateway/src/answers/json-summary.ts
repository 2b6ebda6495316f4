import { parsedJson } from '@slipway/contracts';
import { JsonRefused, JsonScanner } from '@slipway/platform-bounds';
import { copyOf, utf8Of } from './held-text.js';

const MAX_DEPTH = 128;
const MAX_STRING = 512;
/** Elements kept of the lists at the first levels (choices, vectors, errors), and of those further in. */
const MAX_OUTER_ELEMENTS = 32;
const MAX_INNER_ELEMENTS = 4;
const OUTER_DEPTH = 2;
const MAX_SUMMARY = 16 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const HEX_DIGITS = 4;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Summarizes a long JSON text while it arrives: long strings and lists are cut, and the rest is parsed at the end.
 * That is enough to judge an answer of any length with a small memory.
 */
export class JsonSummary {
  private readonly scanner = new JsonScanner({ maxDepth: MAX_DEPTH });
  private isMalformed = false;
  private summary = '';
  private isInString = false;
  /** The rest of the string is dropped. */
  private isStringCut = false;
  private stringLength = 0;
  /** Characters of an escape that are still to come: an escape is kept whole. */
  private escape = 0;
  private isEscapeStart = false;
  /** Index of the current element at each level; -1 in an object. */
  private readonly elements: number[] = [];
  /** The level of the list whose further elements are dropped; 0 if none is. */
  private droppedAt = 0;

  get heldBytes(): number {
    return this.summary.length;
  }

  push(piece: Buffer): void {
    if (this.isMalformed || !this.isValid(() => this.scanner.push(piece))) return;
    if (this.summary.length > MAX_SUMMARY) return;
    let from = -1;
    let out = '';
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at] as number;
      if (this.isInString ? this.isKeptInString(byte) : this.isKept(byte)) {
        if (from < 0) from = at;
      } else if (from >= 0) {
        out += piece.toString('latin1', from, at);
        from = -1;
      }
    }
    if (from >= 0) out += piece.toString('latin1', from);
    if (out !== '') this.summary = copyOf(this.summary + out.slice(0, MAX_SUMMARY + 1));
  }

  /** Whether the text is JSON, but its structure is too large even for a summary. */
  get isTooLarge(): boolean {
    return !this.isMalformed && this.summary.length > MAX_SUMMARY;
  }

  /** Returns the value; undefined if the text is no JSON or its summary is too large. */
  end(): unknown {
    if (this.isMalformed || !this.isValid(() => this.scanner.end()) || this.isTooLarge) return undefined;
    return parsedJson(utf8Of(this.summary));
  }

  private isValid(scan: () => void): boolean {
    try {
      scan();
    } catch (error) {
      if (!(error instanceof JsonRefused)) throw error;
      this.isMalformed = true;
    }
    return !this.isMalformed;
  }

  private isKeptInString(byte: number): boolean {
    const isDropped = this.droppedAt > 0;
    if (this.escape > 0) {
      this.escape -= 1;
      if (byte === LETTER_U && this.escape === 0 && this.isEscapeStart) this.escape = HEX_DIGITS;
      this.isEscapeStart = false;
      return !isDropped && !this.isStringCut;
    }
    if (byte === QUOTE) {
      this.isInString = false;
      return !isDropped;
    }
    if (this.stringLength >= MAX_STRING) this.isStringCut = true;
    this.stringLength += 1;
    if (byte === BACKSLASH) {
      this.escape = 1;
      this.isEscapeStart = true;
    }
    return !isDropped && !this.isStringCut;
  }

  private isKept(byte: number): boolean {
    switch (byte) {
      case QUOTE:
        this.isInString = true;
        this.isStringCut = false;
        this.stringLength = 0;
        break;
      case OPEN_LIST:
        this.elements.push(0);
        break;
      case OPEN_OBJECT:
        this.elements.push(-1);
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        if (this.droppedAt === this.elements.length) this.droppedAt = 0;
        this.elements.pop();
        break;
      case COMMA:
        if (this.droppedAt === 0) this.beginElement();
        break;
      default:
    }
    return this.droppedAt === 0;
  }

  private beginElement(): void {
    const level = this.elements.length - 1;
    const index = this.elements[level] ?? -1;
    if (index < 0) return;
    this.elements[level] = index + 1;
    const most = this.elements.length <= OUTER_DEPTH ? MAX_OUTER_ELEMENTS : MAX_INNER_ELEMENTS;
    if (index + 1 >= most) this.droppedAt = this.elements.length;
  }
}
