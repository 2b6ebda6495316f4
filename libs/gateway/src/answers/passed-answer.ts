import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { upstreamFailed, type GatewayError } from '../gateway.errors.js';
import { cutShort, sendGatewayError, type ClientAnswer } from './answer.js';
import { headerText, isCoded, returnedHeaders } from '../headers.js';
import { LineCutter, type LineSink } from './event-stream.js';
import { bytesOf, copyOf } from './held-text.js';
import { ESCAPED_LETTER, ModelRename, renamed } from './model-rename.js';
import { StreamWriter } from './stream-writer.js';

/** Up to this many bytes, joining the body and the head costs less than a second write. */
const SMALL = 8 * 1024;

/**
 * Passes an answer on unchanged, except for the model's name, which becomes the one that the client requested.
 * An answer in a single piece gets a `content-length`. A longer one has none, because its name may come after
 * everything else.
 */
export class PassedJsonAnswer implements ClientAnswer {
  private status = 502;
  private head: OutgoingHttpHeaders = {};
  /** Length in bytes that upstream announced; NaN if it did not. */
  private length = NaN;
  private isRefused = false;
  /** Set for an answer that arrives in pieces. */
  private rename: ModelRename | undefined;

  constructor(
    private readonly response: ServerResponse,
    private readonly own: OutgoingHttpHeaders,
    private readonly name: Buffer,
  ) {}

  begin(status: number, headers: IncomingHttpHeaders): void {
    this.status = status;
    this.head = returnedHeaders(headers, this.own);
    this.length = Number(headerText(headers, 'content-length') ?? NaN);
    this.isRefused = isCoded(headers);
  }

  data(chunk: Buffer): boolean {
    // A compressed answer can contain anything.
    if (this.isRefused) throw upstreamFailed();
    if (chunk.length === this.length) {
      this.whole(renamed(chunk, this.name));
      return true;
    }
    const passed = (this.rename ??= new ModelRename(this.name)).push(chunk);
    this.sendHead();
    return passed.length === 0 || this.response.write(passed);
  }

  end(): void {
    // Nothing has been sent: an empty body is no answer.
    if (!this.response.headersSent) return sendGatewayError(this.response, this.own, upstreamFailed());
    if (!this.response.writableEnded) this.response.end();
  }

  cut(error: GatewayError): void {
    if (this.response.headersSent) cutShort(this.response, false, error);
    else sendGatewayError(this.response, this.own, error);
  }

  private whole(body: readonly Buffer[]): void {
    const length = body.reduce((sum, piece) => sum + piece.length, 0);
    // A copy of the head would be one of V8's slow objects, which cost more than everything else here.
    this.head['content-length'] = length;
    this.response.writeHead(this.status, this.head);
    // Node sends head and body in one piece only if the body is a string.
    if (length <= SMALL) this.response.end(latin1Of(body), 'latin1');
    else this.response.end(Buffer.concat(body));
  }

  private sendHead(): void {
    if (!this.response.headersSent) this.response.writeHead(this.status, this.head);
  }
}

/** Decodes with one character per byte. */
function latin1Of(pieces: readonly Buffer[]): string {
  let text = '';
  for (const piece of pieces) text += piece.toString('latin1');
  return text;
}

const DATA = 'data:';
/** The key as every engine writes it. Quotes inside a string are escaped, so this never matches there. */
const KEY = '"model"';
/** Proxies must not keep events back. */
const STREAM_HEAD: OutgoingHttpHeaders = { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };

/**
 * Passes an event stream on, with the model's name replaced in each event. Only the name itself and the beginning of a
 * line that does not show its field wait for more of their line. Works on Latin-1, which has one character per byte.
 */
export class PassedStreamAnswer implements ClientAnswer, LineSink {
  private readonly writer: StreamWriter;
  private readonly nameText: string;
  private readonly lines = new LineCutter();
  private out = '';
  private copiedTo = 0;
  private isDataLine = false;
  private isInEvent = false;
  /** Renames in an event whose data is in several lines or several pieces of one. */
  private rename: ModelRename | undefined;
  /** The first event's key and value with their replacement. Later events with this spelling are not scanned. */
  private spelling: { given: string; passed: string } | undefined;

  constructor(
    private readonly response: ServerResponse,
    private readonly own: OutgoingHttpHeaders,
    private readonly name: Buffer,
  ) {
    this.writer = new StreamWriter(response, 'latin1');
    this.nameText = name.toString('latin1');
  }

  begin(status: number, headers: IncomingHttpHeaders): void {
    this.writer.begin(status, Object.assign({}, STREAM_HEAD, returnedHeaders(headers, this.own)));
  }

  data(chunk: Buffer): boolean {
    this.copiedTo = 0;
    const text = this.lines.push(chunk.toString('latin1'), this);
    const passed = this.out + text.slice(this.copiedTo, text.length - this.lines.carry.length);
    this.out = '';
    if (passed !== '') this.isInEvent = !passed.endsWith('\n\n');
    return this.writer.write(passed);
  }

  end(): void {
    this.writer.end(this.lines.carry);
  }

  cut(error: GatewayError): void {
    this.writer.flush();
    // Otherwise the error would become a part of the event that was cut. One more blank line means nothing.
    if (this.isInEvent) this.response.write('\n\n');
    cutShort(this.response, true, error);
  }

  line(text: string, start: number, end: number, isBegin: boolean, isEnd: boolean): void {
    if (isBegin) {
      if (start === end) this.rename = undefined;
      this.isDataLine = text.startsWith(DATA, start);
    }
    if (!this.isDataLine) return;
    const from = isBegin ? start + DATA.length : start;
    const json = text.slice(from, end);
    let changed: string | undefined;
    // The value of an event begins in this line. Without a brace it has no members.
    if (isBegin && isEnd && !this.rename && !json.includes('{')) return;
    // An event in one line ends with a brace, and needs no scanner of its own.
    if (isBegin && isEnd && !this.rename && json.endsWith('}')) changed = this.event(json);
    else {
      this.rename ??= new ModelRename(this.name);
      changed = this.rename.push(bytesOf(json)).toString('latin1');
    }
    if (changed === undefined) return;
    this.out += text.slice(this.copiedTo, from) + changed;
    this.copiedTo = end;
  }

  /** Renames in a whole event. Returns undefined if nothing changes. */
  private event(json: string): string | undefined {
    if (json.includes(ESCAPED_LETTER)) return latin1Of(renamed(bytesOf(json), this.name));
    const at = json.indexOf(KEY);
    if (at < 0) return undefined;
    const isAlone = json.indexOf(KEY, at + 1) < 0;
    const { spelling } = this;
    if (spelling && isAlone && json.startsWith(spelling.given, at))
      return json.slice(0, at) + spelling.passed + json.slice(at + spelling.given.length);
    const changed = latin1Of(renamed(bytesOf(json), this.name));
    if (isAlone) this.learn(json, changed, at);
    return changed === json ? undefined : changed;
  }

  private learn(json: string, changed: string, at: number): void {
    const colon = /^\s*:\s*/.exec(json.slice(at + KEY.length))?.[0];
    const valueStart = at + KEY.length + (colon?.length ?? 0);
    // A nested `model` has kept its value.
    if (colon === undefined || !changed.startsWith(this.nameText, valueStart)) return;
    const valueEnd = valueStart + this.nameText.length + json.length - changed.length;
    const given = copyOf(json.slice(at, valueEnd));
    // A number has no closing delimiter: the next number may continue after the same digits.
    if (given.endsWith('"')) this.spelling = { given, passed: copyOf(json.slice(at, valueStart) + this.nameText) };
  }
}
