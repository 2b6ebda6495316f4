/*
 * Engines report the tokens of a stream only on request, and then in one more chunk, which a client that did not ask for
 * it may not expect. The gateway requests it for its statistics and removes the chunk.
 */

const OPTION = ',"stream_options":{"include_usage":true}';
const USAGE_PATHS = new Set(['/v1/chat/completions', '/v1/completions']);
/** A chunk with usage is short; a longer line passes at once. */
const MAX_LINE = 16 * 1024;
/** How much of one line is searched, over all the pieces in which it arrives. A line in many tiny pieces passes. */
const MAX_SEARCHED = 16 * MAX_LINE;
const NO_CHOICE = /"choices"\s*:\s*\[\s*\]/;
const A_CHOICE = /"choices"\s*:\s*\[\s*[^\s\]]/;

/** Whether the gateway may request usage: a client that sends the option has decided itself. */
export function mayRequestUsage(path: string, isStream: boolean, parameters: readonly string[]): boolean {
  return isStream && USAGE_PATHS.has(path) && !parameters.includes('stream_options');
}

/** Returns the JSON of the member `model`, with the option after it, so that the body is copied only once. */
export function modelWithOption(modelId: string): string {
  return JSON.stringify(modelId) + OPTION;
}

export function withoutOption(body: Buffer, modelId: string): Buffer {
  const model = JSON.stringify(modelId);
  const at = body.indexOf(model + OPTION) + Buffer.byteLength(model);
  return Buffer.concat([body.subarray(0, at), body.subarray(at + OPTION.length)]);
}

/** Whether an engine's error is about the option. */
export function isAboutOption(error: object | null): boolean {
  return /stream_options|include_usage/.test(JSON.stringify(error) ?? '');
}

/**
 * Removes the chunk with the usage from an event stream. Only the beginning of a line waits, until it contains a choice.
 * Works on Latin-1, which has one character per byte; every pattern is ASCII.
 */
export class UsageChunkFilter {
  /** The beginning of a line that may be the chunk. */
  private held = '';
  /** Characters searched for a choice so far, in the line that is held. */
  private searched = 0;
  private isInLine = false;
  /** The blank line after a removed chunk is removed too. */
  private isAfterChunk = false;

  /** Whether the stream is between two lines, and nothing waits. */
  get isIdle(): boolean {
    return this.held === '' && !this.isInLine && !this.isAfterChunk;
  }

  push(chunk: Buffer): Buffer {
    if (this.isInLine && !chunk.includes(0x0a)) return chunk;
    const lines = (this.held + chunk.toString('latin1')).split(/(?<=\n)/);
    this.held = '';
    return Buffer.from(lines.map((line) => this.line(line)).join(''), 'latin1');
  }

  /** Returns the rest at the end of the stream. */
  end(): Buffer {
    const rest = isUsageChunk(this.held) ? '' : this.held;
    this.held = '';
    return Buffer.from(rest, 'latin1');
  }

  /** @param line a line, or its part that has arrived */
  private line(line: string): string {
    const isEnded = line.endsWith('\n');
    if (isEnded) this.searched = 0;
    if (this.isInLine) {
      this.isInLine = !isEnded;
      return line;
    }
    if (!isEnded) return this.beginning(line);
    const isBlankAfterChunk = this.isAfterChunk && line.trim() === '';
    this.isAfterChunk = !isBlankAfterChunk && isUsageChunk(line);
    return isBlankAfterChunk || this.isAfterChunk ? '' : line;
  }

  private beginning(line: string): string {
    const isOpen = line.startsWith('data:') ? !A_CHOICE.test(line) : 'data:'.startsWith(line) || line === '\r';
    this.searched += line.length;
    if (isOpen && line.length <= MAX_LINE && this.searched <= MAX_SEARCHED) {
      this.held = line;
      return '';
    }
    this.isInLine = true;
    return line;
  }
}

function isUsageChunk(line: string): boolean {
  if (!line.startsWith('data:') || line.length > MAX_LINE || !NO_CHOICE.test(line)) return false;
  try {
    const { choices, usage } = JSON.parse(line.slice('data:'.length)) as Record<string, unknown>;
    return Array.isArray(choices) && choices.length === 0 && typeof usage === 'object' && usage !== null;
  } catch {
    return false;
  }
}
