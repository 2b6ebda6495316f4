import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { upstreamFailed, type GatewayError } from '../gateway.errors.js';
import { cutShort, sendGatewayError, type ClientAnswer } from './answer.js';
import { headerText, isCoded, returnedHeaders } from '../headers.js';
import { ModelRename, renamed } from './model-rename.js';
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
    this.sendHead();
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

/**
 * Passes an event stream on, with the model's name replaced in each event. Only the name itself and a beginning that
 * may become `data:` wait for more of their line. Works on Latin-1, which has one character per byte; every pattern is
 * ASCII.
 */
export class PassedStreamAnswer implements ClientAnswer {
  private readonly writer: StreamWriter;
  private readonly nameText: string;
  private isInLine = false;
  /** Renames in the current line, if the line carries data. */
  private rename: ModelRename | undefined;
  /** The first bytes of a line, while they may still become `data:`. */
  private begun = '';
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
    this.writer.begin(status, returnedHeaders(headers, this.own));
  }

  data(chunk: Buffer): boolean {
    return this.writer.write(this.passed(this.begun + chunk.toString('latin1')));
  }

  end(): void {
    this.writer.end(this.begun);
  }

  cut(error: GatewayError): void {
    this.writer.flush();
    cutShort(this.response, true, error);
  }

  private passed(text: string): string {
    this.begun = '';
    let out = '';
    let copiedTo = 0;
    // The format knows two line ends. Each is searched for once, because a piece may consist of one of them.
    let [feed, back] = [text.indexOf('\n'), text.indexOf('\r')];
    for (let start = 0, end; start < text.length; start = end) {
      if (feed >= 0 && feed < start) feed = text.indexOf('\n', start);
      if (back >= 0 && back < start) back = text.indexOf('\r', start);
      const last = feed < 0 || (back >= 0 && back < feed) ? back : feed;
      const isWhole = last >= 0;
      end = isWhole ? last + 1 : text.length;
      if (!this.isInLine && !isWhole && DATA.startsWith(text.slice(start))) {
        this.begun = text.slice(start);
        return out + text.slice(copiedTo, start);
      }
      const json = this.isInLine ? start : start + DATA.length;
      const isData = !this.isInLine && text.startsWith(DATA, start);
      let changed: string | undefined;
      if (isData && isWhole) changed = this.event(text.slice(json, end));
      else {
        if (isData) this.rename = new ModelRename(this.name);
        if (this.rename) changed = this.rename.push(Buffer.from(text.slice(json, end), 'latin1')).toString('latin1');
      }
      if (changed !== undefined) {
        out += text.slice(copiedTo, json) + changed;
        copiedTo = end;
      }
      this.isInLine = !isWhole;
      if (isWhole) this.rename = undefined;
    }
    return out + text.slice(copiedTo);
  }

  /** Renames in a whole event. Returns undefined if nothing changes. */
  private event(json: string): string | undefined {
    const at = json.indexOf(KEY);
    if (at < 0) return undefined;
    const isAlone = json.indexOf(KEY, at + 1) < 0;
    const { spelling } = this;
    if (spelling && isAlone && json.startsWith(spelling.given, at))
      return json.slice(0, at) + spelling.passed + json.slice(at + spelling.given.length);
    const changed = latin1Of(renamed(Buffer.from(json, 'latin1'), this.name));
    if (isAlone) this.learn(json, changed, at);
    return changed === json ? undefined : changed;
  }

  private learn(json: string, changed: string, at: number): void {
    const colon = /^\s*:\s*/.exec(json.slice(at + KEY.length))?.[0];
    const valueStart = at + KEY.length + (colon?.length ?? 0);
    // A nested `model` has kept its value.
    if (colon === undefined || !changed.startsWith(this.nameText, valueStart)) return;
    const valueEnd = valueStart + this.nameText.length + json.length - changed.length;
    const given = json.slice(at, valueEnd);
    // A number has no closing delimiter: the next number may continue after the same digits.
    if (given.endsWith('"')) this.spelling = { given, passed: json.slice(at, valueStart) + this.nameText };
  }
}
