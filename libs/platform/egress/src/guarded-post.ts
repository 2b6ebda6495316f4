import { Agent, request, type ClientRequest, type ClientRequestArgs, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { buildConnector } from 'undici';

/** How long an idle connection is kept, and how many for a receiver. */
const IDLE_MS = 4_000;
const MOST_IDLE = 4;

export interface PostOptions {
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Ends the request at any time, and the answer as well. */
  signal: AbortSignal;
}

export interface PostAnswer {
  status: number;
  /** Each value of each header, by the lower-case name. */
  headers: Readonly<Record<string, string[] | undefined>>;
  body: AsyncIterable<Buffer>;
}

interface Destination extends ClientRequestArgs {
  url: URL;
}

type ConnectCallback = (error: Error | null, socket: Duplex | null) => void;

/** Node's own client over connections of the guard. It keeps some of them for the next request to the same receiver. */
class GuardedAgent extends Agent {
  constructor(private readonly connect: buildConnector.connector) {
    super({ keepAlive: true, maxFreeSockets: MOST_IDLE, timeout: IDLE_MS });
  }

  override getName(options?: object): string {
    return (options as Destination).url.origin;
  }

  // The type of Node has no callback, which its documentation describes.
  override createConnection(options: object, callback?: unknown): Duplex {
    const { protocol, host, hostname, port } = (options as Destination).url;
    const target = { protocol, host, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), port };
    this.connect(target, (...[error, socket]) => (callback as ConnectCallback)(error, socket));
    return undefined as unknown as Duplex;
  }
}

/**
 * Posts to receivers of any kind. undici would refuse an interim answer (`100 Continue`), which RFC 9110 (15.2) requires
 * every client to accept.
 */
export class GuardedPost {
  private readonly agent: GuardedAgent;

  constructor(connect: buildConnector.connector) {
    this.agent = new GuardedAgent(connect);
  }

  /**
   * Returns the status and headers as soon as they have arrived. Redirects are not followed.
   * @throws the error of the connection or of the parser, with its `code`
   */
  async send(url: string, options: PostOptions): Promise<PostAnswer> {
    const first = this.begin(url, options);
    try {
      return await answerOf(first);
    } catch (failure) {
      // The receiver had closed an idle connection just before. A new one decides.
      const isStale = first.reusedSocket && (failure as { code?: string }).code === 'ECONNRESET';
      if (!isStale || options.signal.aborted) throw failure;
      return answerOf(this.begin(url, options));
    }
  }

  close(): void {
    this.agent.destroy();
  }

  private begin(given: string, { headers, body, signal }: PostOptions): ClientRequest {
    const url = new URL(given);
    const destination: Destination = {
      url,
      method: 'POST',
      agent: this.agent,
      path: url.pathname + url.search,
      headers: { host: url.host, ...headers, 'content-length': String(Buffer.byteLength(body)) },
      signal,
    };
    const sent = request(destination);
    sent.end(body);
    return sent;
  }
}

function answerOf(sent: ClientRequest): Promise<PostAnswer> {
  return new Promise((resolve, reject) => {
    // It stays: a connection may also fail after its answer has begun, which the reader of the answer notices.
    sent.on('error', reject);
    sent.once('response', (answer: IncomingMessage) => {
      resolve({ status: answer.statusCode ?? 0, headers: answer.headersDistinct, body: answer });
    });
    // Without a listener, Node would close the connection and report nothing.
    sent.once('upgrade', (_answer, socket) => {
      socket.destroy();
      reject(Object.assign(new Error('the server switched protocols unasked'), { code: 'HPE_UPGRADE' }));
    });
  });
}
