import { mediaSourceOf } from '@slipway/contracts';
import { jsonKeyOf } from '@slipway/platform-bounds';
import { MAX_DEPTH, type NamedMember } from './body-rules.js';
import { MediaMode, modeOfName, modeOfTopLevel } from './media-names.js';

/** The media that a body names, each host once: the rules of a model ask nothing else about it. */
export interface NamedMedia {
  /** By host, with its port if it is not the scheme's own: the first path. */
  hosts: ReadonlyMap<string, string>;
  /** The first path that names neither a host nor `data:`. */
  other: string | undefined;
}

/** A rule has far fewer hosts, so a body with more breaks it anyway. */
const MAX_HOSTS = 1_000;
/** A longer URL with a scheme other than `data:` is no honest one. */
const MAX_URL_BYTES = 8 * 1024;
const MAX_NAME_BYTES = 512;
/** A string is read byte by byte this far, and then its end is searched. After an escaped quote, it is read further. */
const NEAR_BYTES = 64;
const FURTHER_BYTES = 64 * 1024;
/** Bounds of a path in an error. */
const MAX_PATH_NAME = 64;
const MAX_PATH = 400;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * The beginning of a string that an engine could fetch, also by a protocol of ffmpeg that reads another URL. Base64, ids
 * and texts have no such beginning.
 */
const FETCHED =
  /^(?:(?:https?|ftps?|file|wss?|s3|gs|hf|concatf?|subfile(?:,[^:]{0,200})?|async|cache|crypto|ip[fn]s|pipe|fd|tcp|udp|unix):|[a-z][a-z0-9+.-]{0,30}:[/\\]{2})/i;
/** Readers of URLs skip these before it, and some also in the middle. */
const SKIPPED_BEFORE = /^[\s\u0000-\u0020\u007f-\u00a0\u200b]+/;
const SKIPPED_WITHIN = /[\t\n\r]/g;

/**
 * Finds the media that a body names, in the text that an engine gets. Every occurrence counts, so it does not matter
 * which of two equal names an engine takes. It walks over a text that has been checked, builds no values, and can stop
 * after any token.
 */
export class MediaWalk implements NamedMedia {
  readonly hosts = new Map<string, string>();
  other: string | undefined;
  private member = -1;
  private at = 0;
  private end = 0;
  private depth = 0;
  private isKeyNext = false;
  /** Mode of the next value, by its name or by the list around it. */
  private mode = MediaMode.None;
  // By level. Level 0 is the value of the top-level member.
  private readonly modes = new Uint8Array(MAX_DEPTH + 2);
  private readonly isList = new Uint8Array(MAX_DEPTH + 2);
  /** Of a list, the index of its element; of an object, where the name of its member begins and ends. */
  private readonly indices = new Int32Array(MAX_DEPTH + 2);
  private readonly nameEnds = new Int32Array(MAX_DEPTH + 2);
  /** Engines that embed pictures by URL get them as `input`, and what they are beside it. */
  private readonly isInputMedia: boolean;

  constructor(
    private readonly text: Buffer,
    private readonly members: readonly NamedMember[],
  ) {
    this.isInputMedia = members.some(
      ({ name, valueStart, valueEnd }) =>
        name === 'modality' && !/^(?:"text"|null)$/.test(text.toString('latin1', valueStart, valueEnd)),
    );
  }

  /** Walks over about this many bytes. Returns whether it is done. */
  advance(bytes: number): boolean {
    let left = bytes;
    while (left > 0) {
      if (this.at >= this.end && !this.nextMember()) return true;
      const from = this.at;
      this.walk(Math.min(this.end, this.at + left));
      left -= this.at - from;
    }
    return this.at >= this.end && this.member >= this.members.length - 1;
  }

  private nextMember(): boolean {
    for (;;) {
      this.member += 1;
      const member = this.members[this.member];
      if (!member) return false;
      this.mode = this.isInputMedia && member.name === 'input' ? MediaMode.Url : modeOfTopLevel(member.name);
      if (this.mode === MediaMode.Skip || !canHaveText(this.text[member.valueStart] as number)) continue;
      this.at = member.valueStart;
      this.end = member.valueEnd;
      this.depth = 0;
      this.isKeyNext = false;
      return true;
    }
  }

  private walk(until: number): void {
    const { text } = this;
    while (this.at < until) {
      switch (text[this.at]) {
        case QUOTE: {
          const from = this.at;
          this.at = endOfString(text, from);
          if (this.isKeyNext) this.name(from, this.at);
          else if (this.mode === MediaMode.Part || this.mode === MediaMode.Url) this.note(from + 1, this.at - 1);
          break;
        }
        case OPEN_LIST:
        case OPEN_OBJECT:
          this.open(text[this.at] === OPEN_LIST);
          this.at += 1;
          break;
        case CLOSE_LIST:
        case CLOSE_OBJECT:
          this.depth -= 1;
          this.isKeyNext = false;
          this.at += 1;
          break;
        case COMMA:
          this.isKeyNext = !this.isList[this.depth];
          if (!this.isKeyNext) {
            this.indices[this.depth]! += 1;
            this.mode = this.modes[this.depth] as MediaMode;
          }
          this.at += 1;
          break;
        default:
          this.at += 1;
      }
    }
  }

  private open(isList: boolean): void {
    const { mode } = this;
    this.depth += 1;
    this.isList[this.depth] = Number(isList);
    this.indices[this.depth] = 0;
    this.nameEnds[this.depth] = 0;
    this.isKeyNext = !isList;
    const isPart = mode === MediaMode.Url || mode === MediaMode.Source;
    this.mode = !isList && isPart ? MediaMode.Part : mode;
    this.modes[this.depth] = this.mode;
  }

  private name(from: number, end: number): void {
    this.isKeyNext = false;
    this.indices[this.depth] = from;
    this.nameEnds[this.depth] = end;
    const around = this.modes[this.depth] as MediaMode;
    this.mode = around;
    if (around === MediaMode.Skip || end - from > MAX_NAME_BYTES) return;
    const own = modeOfName(jsonKeyOf(this.text, from, end));
    // Nothing in a part with media is exempt, and only names of URLs say more about it.
    if (around === MediaMode.Part ? own === MediaMode.Url : own !== MediaMode.None) this.mode = own;
  }

  private note(from: number, end: number): void {
    if (from === end) return;
    const isWhole = end - from <= MAX_URL_BYTES;
    const text = unescaped(this.text.toString('utf8', from, isWhole ? end : from + MAX_URL_BYTES));
    if (this.mode === MediaMode.Part && !isFetched(text, isWhole)) return;
    const source = mediaSourceOf(text);
    if (source.kind === 'data') return;
    if (source.kind === 'host' && isWhole && this.hosts.size < MAX_HOSTS) {
      if (!this.hosts.has(source.host)) this.hosts.set(source.host, this.path());
    } else this.other ??= this.path();
  }

  /** Returns where the walk is, such as `messages[0].content[1].image_url.url`. */
  private path(): string {
    let path = (this.members[this.member] as NamedMember).name.slice(0, MAX_PATH_NAME);
    for (let level = 1; level <= this.depth && path.length < MAX_PATH; level += 1) {
      const at = this.indices[level] as number;
      if (this.isList[level]) path += `[${at}]`;
      else path += `.${this.nameAt(at, this.nameEnds[level] as number)}`;
    }
    return path;
  }

  private nameAt(from: number, end: number): string {
    return end - from > MAX_NAME_BYTES ? '…' : jsonKeyOf(this.text, from, end).slice(0, MAX_PATH_NAME);
  }
}

/** Whether a string of a part with media begins as something that an engine could fetch. */
function isFetched(text: string, isWhole: boolean): boolean {
  const begun = text.replace(SKIPPED_WITHIN, '').replace(SKIPPED_BEFORE, '');
  return begun === '' ? !isWhole : FETCHED.test(begun);
}

function canHaveText(byte: number): boolean {
  return byte === QUOTE || byte === OPEN_LIST || byte === OPEN_OBJECT;
}

/** @param from the quote before the string. Returns the position after the one that ends it */
function endOfString(text: Buffer, from: number): number {
  let at = from + 1;
  for (let steps = NEAR_BYTES; ; steps = FURTHER_BYTES) {
    // Most strings end here, and a call of `indexOf` would cost more than they do.
    for (const near = at + steps; at < near; at += 1) {
      const byte = text[at];
      if (byte === QUOTE) return at + 1;
      if (byte === BACKSLASH) at += 1;
    }
    const quote = text.indexOf(QUOTE, at);
    let escapes = quote;
    while (escapes > at && text[escapes - 1] === BACKSLASH) escapes -= 1;
    if ((quote - escapes) % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

const ESCAPED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** The text may be cut anywhere. */
function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\(?:u([0-9a-f]{4})|(.))/gi, (_all, code: string | undefined, letter: string) =>
    code === undefined ? (ESCAPED[letter] ?? letter) : String.fromCharCode(parseInt(code, 16)),
  );
}
