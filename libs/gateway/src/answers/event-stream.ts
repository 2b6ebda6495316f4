import { copyOf, HeldText } from './held-text.js';

/** Receives the lines of a stream as ranges of a text. A line in several chunks arrives in several pieces. */
export interface LineSink {
  line(text: string, start: number, end: number, isBegin: boolean, isEnd: boolean): void;
}

const BYTE_ORDER_MARK = '\xef\xbb\xbf';
/** The longest name of a field, with its colon. */
const LONGEST_FIELD = 6;

/**
 * Cuts a stream into lines, which end with LF, CR or CRLF. Texts are Latin-1: a character for each byte, so that a chunk
 * may end inside a character. A line reaches the sink at once; only a beginning that does not show its field waits.
 */
export class LineCutter {
  /** The beginning of a line whose field is unknown. */
  carry = '';
  private isInLine = false;
  private isAfterReturn = false;
  private isAtStart = true;

  /** Whether the next byte begins a line. */
  get isAtLineStart(): boolean {
    return !this.isInLine && this.carry === '' && !this.isAfterReturn && !this.isAtStart;
  }

  /** @returns the text that the ranges refer to; the new `carry` is its end, and is no part of any range */
  push(chunk: string, sink: LineSink): string {
    const text = this.carry + chunk;
    this.carry = '';
    let start = 0;
    if (this.isAfterReturn && text !== '') {
      if (text[0] === '\n') start = 1;
      this.isAfterReturn = false;
    }
    // Each line end is searched for once, because a chunk may consist of one of them.
    let [feed, back] = [text.indexOf('\n', start), text.indexOf('\r', start)];
    while (start < text.length) {
      if (feed >= 0 && feed < start) feed = text.indexOf('\n', start);
      if (back >= 0 && back < start) back = text.indexOf('\r', start);
      const isReturn = back >= 0 && (feed < 0 || back < feed);
      const last = isReturn ? back : feed;
      const from = this.isAtStart && text.startsWith(BYTE_ORDER_MARK, start) ? start + BYTE_ORDER_MARK.length : start;
      if (last < 0) {
        if (!this.isInLine && text.length - from < LONGEST_FIELD && !text.includes(':', from)) {
          this.carry = text.slice(start);
          return text;
        }
        sink.line(text, from, text.length, !this.isInLine, false);
        this.isInLine = true;
        this.isAtStart = false;
        return text;
      }
      sink.line(text, from, last, !this.isInLine, true);
      this.isInLine = false;
      this.isAtStart = false;
      start = last + 1;
      if (!isReturn) continue;
      if (start === text.length) this.isAfterReturn = true;
      else if (text[start] === '\n') start += 1;
    }
    return text;
  }

  /** Ends the last line, which has no line end. */
  end(sink: LineSink): void {
    const { carry } = this;
    const from = this.isAtStart && carry.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
    if (this.isInLine || carry.length > from) sink.line(carry, from, carry.length, !this.isInLine, true);
    this.carry = '';
    this.isInLine = false;
  }
}

/** Texts are Latin-1, a character for each byte. */
export interface EventSink {
  /** @param name the event's name; empty if it has none */
  event(data: string, name: string): void;
  comment?(): void;
  /** A piece of the data of an event that is too long to be kept whole. */
  piece(data: string): void;
  /** The end of an event that arrived in pieces. */
  endOfPieces(name: string): void;
}

const enum Field {
  Other,
  Comment,
  Data,
  Name,
  /** Older llama.cpp reports an error in a field of this name. */
  Error,
}

const FIELDS: readonly (readonly [string, Field])[] = [
  ['data', Field.Data],
  ['event', Field.Name],
  ['error', Field.Error],
];
const MAX_NAME_BYTES = 128;
const LF = 0x0a;
const SPACE = 0x20;

/**
 * Reads server-sent events by the standard (WHATWG HTML, 9.2.6). Engines end a stream without the last blank line: the
 * last event is read nevertheless. It keeps at most `maxWhole` bytes of an event; a longer one arrives in pieces.
 */
export class EventStream implements LineSink {
  private readonly lines = new LineCutter();
  private readonly held: HeldText;
  private field = Field.Other;
  private isFirstPiece = false;
  private name = '';
  private hasData = false;
  private isInPieces = false;
  /** Bytes of fields that mean nothing, in the current event. */
  ignoredBytes = 0;

  constructor(
    private readonly sink: EventSink,
    maxWhole: number,
  ) {
    this.held = new HeldText(maxWhole);
  }

  /** Whether every event that has begun has also ended. */
  get isBetweenEvents(): boolean {
    return this.lines.isAtLineStart && !this.hasData && this.name === '';
  }

  get heldBytes(): number {
    return this.held.capacity + this.lines.carry.length + this.name.length;
  }

  push(chunk: Buffer): void {
    const text = chunk.toString('latin1');
    const read = this.wholeEvents(text);
    if (read < text.length) this.lines.push(read === 0 ? text : text.slice(read), this);
  }

  end(): void {
    this.lines.end(this);
    this.dispatch();
  }

  /** Reads events of one `data` line with LF as their end, as most engines write them. Returns how far it read. */
  private wholeEvents(text: string): number {
    if (!this.lines.isAtLineStart || this.hasData || this.name !== '' || text.includes('\r')) return 0;
    let at = 0;
    while (text.startsWith('data:', at)) {
      const end = text.indexOf('\n', at);
      if (end < 0 || text.charCodeAt(end + 1) !== LF) break;
      const start = text.charCodeAt(at + 5) === SPACE ? at + 6 : at + 5;
      if (end > start) this.sink.event(text.slice(start, end), '');
      at = end + 2;
    }
    return at;
  }

  line(text: string, start: number, end: number, isBegin: boolean, isEnd: boolean): void {
    if (isBegin && isEnd && start === end) return this.dispatch();
    let from = start;
    if (isBegin) {
      from = this.beginField(text, start, end);
      if (this.field === Field.Data) {
        if (this.hasData) this.add('\n');
        this.hasData = true;
      } else if (this.field === Field.Error) {
        this.name = 'error';
        this.hasData = true;
      } else if (this.field === Field.Name) this.name = '';
      this.isFirstPiece = true;
    }
    // The one space after the colon may arrive with the next piece.
    if (this.isFirstPiece && from < end) {
      if (text.charCodeAt(from) === SPACE && this.field !== Field.Comment) from += 1;
      this.isFirstPiece = false;
    }
    if (this.field === Field.Data || this.field === Field.Error) {
      if (from < end) this.add(text.slice(from, end));
    } else if (this.field === Field.Name && this.name.length < MAX_NAME_BYTES)
      this.name += copyOf(text.slice(from, Math.min(end, from + MAX_NAME_BYTES - this.name.length)));
    else if (this.field === Field.Comment && isEnd) this.sink.comment?.();
    if (this.field === Field.Other) this.ignoredBytes += end - start;
  }

  private beginField(text: string, start: number, end: number): number {
    this.field = Field.Other;
    if (text[start] === ':') {
      this.field = Field.Comment;
      return start + 1;
    }
    for (const [name, field] of FIELDS) {
      const nameEnd = start + name.length;
      if (!text.startsWith(name, start) || nameEnd > end) continue;
      // A line without a colon is a field with an empty value.
      if (nameEnd !== end && text[nameEnd] !== ':') continue;
      this.field = field;
      return Math.min(nameEnd + 1, end);
    }
    return start;
  }

  private add(text: string): void {
    if (!this.isInPieces) {
      if (this.held.add(text)) return;
      this.isInPieces = true;
      this.sink.piece(this.held.take());
    }
    this.sink.piece(text);
  }

  private dispatch(): void {
    const { name, isInPieces } = this;
    this.name = '';
    this.hasData = false;
    this.isInPieces = false;
    this.ignoredBytes = 0;
    if (isInPieces) return this.sink.endOfPieces(name);
    const data = this.held.take();
    // An event without data is none, by the standard. An engine's error may have only a name.
    if (data !== '' || name === 'error') this.sink.event(data, name);
  }
}
