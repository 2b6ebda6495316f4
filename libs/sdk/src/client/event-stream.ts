import { chunksOf } from './body.js';
import { SlipwayError } from './errors.js';

/** No event of the api comes near it. */
const MOST_CHARACTERS = 16 * 1024 * 1024;
/** Three heartbeats of the api: a connection that is silent for longer is dead. */
const SILENCE_MS = 45_000;

/** A message of `text/event-stream`. */
export interface StreamMessage {
  /** Where the stream can be taken up again; undefined where it cannot. */
  id: string | undefined;
  type: string;
  data: string;
}

/** Reads `text/event-stream` as the HTML standard says, and drops a message that is cut off before its blank line. */
export class MessageParser {
  /** How long the server wants those to wait that come again. */
  retryMs: number | undefined;
  private rest = '';
  private data: string[] = [];
  private type = '';
  private id: string | undefined;

  push(text: string): StreamMessage[] {
    const messages: StreamMessage[] = [];
    // Between the two halves of a CRLF the text may be cut: a CR at the end waits for what follows it.
    const whole = this.rest + text;
    const lines = whole.split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') this.end(messages);
      else this.field(line);
    }
    if (this.rest.length + this.data.reduce((sum, line) => sum + line.length, 0) > MOST_CHARACTERS)
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
    if (name === 'data') this.data.push(value);
    else if (name === 'event') this.type = value;
    else if (name === 'id' && !value.includes('\0')) this.id = value;
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) this.retryMs = Number(value);
  }

  private end(messages: StreamMessage[]): void {
    if (this.data.length > 0) messages.push({ id: this.id, type: this.type || 'message', data: this.data.join('\n') });
    this.data = [];
    this.type = '';
  }
}

export interface MessageOptions {
  parser?: MessageParser;
  signal?: AbortSignal | undefined;
  silenceMs?: number | undefined;
}

/**
 * The messages of an answer until it ends.
 * @throws connection_failed where it is cut, timed_out where it is silent for too long, the signal's reason
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
