import { chunksOf } from './body.js';
import { SlipwayError } from './errors.js';

/** Far above the size of any event of the api. */
const MOST_CHARACTERS = 16 * 1024 * 1024;
/** Three heartbeats of the api: a connection that is silent for longer is dead. */
const SILENCE_MS = 45_000;

/** A message of `text/event-stream`. */
export interface StreamMessage {
  /** The id from which the stream can resume; undefined if it cannot. */
  id: string | undefined;
  type: string;
  data: string;
}

/**
 * Reads `text/event-stream` as the HTML standard defines it, and drops a message that is cut off before its blank line.
 */
export class MessageParser {
  /** The wait before a reconnect that the server sets. */
  retryMs: number | undefined;
  /** The beginning of a line. It is never read again, because a long line may arrive in many parts. */
  private rest = '';
  private isAfterReturn = false;
  private data: string[] = [];
  private dataLength = 0;
  private type = '';
  private id: string | undefined;

  push(text: string): StreamMessage[] {
    const messages: StreamMessage[] = [];
    // The text may be cut between the two halves of a CRLF: a CR at the end waits for the next part.
    const part = this.isAfterReturn ? `\r${text}` : text;
    this.isAfterReturn = part.endsWith('\r');
    const lines = (this.isAfterReturn ? part.slice(0, -1) : part).split(/\r\n|\n|\r/);
    lines[0] = this.rest + lines[0];
    this.rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') this.end(messages);
      else this.field(line);
    }
    if (this.rest.length + this.dataLength > MOST_CHARACTERS)
      throw new SlipwayError(`A message of the event stream is too long: at most ${MOST_CHARACTERS} characters.`, {
        code: 'unexpected_answer',
        retryable: false,
      });
    return messages;
  }

  private field(line: string): void {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') {
      this.data.push(value);
      this.dataLength += value.length + 1;
    } else if (name === 'event') this.type = value;
    else if (name === 'id' && !value.includes('\0')) this.id = value;
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) this.retryMs = Number(value);
  }

  private end(messages: StreamMessage[]): void {
    if (this.data.length > 0) messages.push({ id: this.id, type: this.type || 'message', data: this.data.join('\n') });
    this.data = [];
    this.dataLength = 0;
    this.type = '';
  }
}

export interface MessageOptions {
  parser?: MessageParser;
  signal?: AbortSignal | undefined;
  silenceMs?: number | undefined;
}

/**
 * Yields the messages of an answer until it ends.
 * @throws connection_failed if it is cut, timed_out if it is silent for too long, the signal's reason
 */
export async function* messagesOf(
  response: Response,
  { parser = new MessageParser(), signal, silenceMs = SILENCE_MS }: MessageOptions = {},
): AsyncGenerator<StreamMessage, void, undefined> {
  const decoder = new TextDecoder();
  if (!/^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')) {
    await response.body?.cancel();
    throw new SlipwayError('The response is not an event stream.', { code: 'unexpected_answer', retryable: false });
  }
  try {
    for await (const chunk of chunksOf(response, { signal, silenceMs }))
      yield* parser.push(decoder.decode(chunk, { stream: true }));
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof SlipwayError) throw error;
    throw new SlipwayError('The event stream was interrupted.', {
      code: 'connection_failed',
      retryable: true,
      cause: error,
    });
  }
}
