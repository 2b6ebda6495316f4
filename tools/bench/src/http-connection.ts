import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  status: number;
  body: string;
}

const HEAD_END = '\r\n\r\n';
const LAST_CHUNK = '0\r\n\r\n';

/**
 * One kept-alive HTTP/1.1 connection with one request at a time. A load generator shares its processor with the server
 * under test, so this class reads only the length of an answer. `fetch` costs more than some of these servers.
 */
export class HttpConnection {
  private socket!: Socket;
  private head = '';
  private body: string[] = [];
  private missing = -1;
  private tail = '';
  private isHead = true;
  private waiting?: { resolve: (answer: RawAnswer) => void; reject: (error: Error) => void };

  static async open(url: string): Promise<HttpConnection> {
    const { hostname, port } = new URL(url);
    const connection = new HttpConnection();
    await new Promise<void>((resolve, reject) => {
      connection.socket = connect({ host: hostname, port: Number(port), noDelay: true }, resolve);
      connection.socket.on('error', (error) => {
        reject(error);
        connection.waiting?.reject(error);
      });
    });
    connection.socket.setEncoding('latin1').on('data', (chunk) => connection.read(String(chunk)));
    connection.socket.on('close', () => connection.waiting?.reject(new Error('the server closed the connection')));
    return connection;
  }

  /** @param request made by `requestText` */
  send(request: string): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      // No further event would report it.
      if (this.socket.destroyed) return reject(new Error('the server had closed the connection'));
      this.waiting = { resolve, reject };
      this.socket.write(request);
    });
  }

  close(): void {
    this.waiting = undefined;
    this.socket.destroy();
  }

  private read(chunk: string): void {
    let rest = chunk;
    if (this.isHead) {
      this.head += chunk;
      const end = this.head.indexOf(HEAD_END);
      if (end < 0) return;
      rest = this.head.slice(end + HEAD_END.length);
      this.head = this.head.slice(0, end);
      this.isHead = false;
      const length = /\r\ncontent-length: *(\d+)/i.exec(this.head);
      this.missing = length ? Number(length[1]) : -1;
      if (this.missing < 0 && !/\r\ntransfer-encoding: *chunked/i.test(this.head)) this.missing = 0;
    }
    this.body.push(rest);
    if (this.missing >= 0) {
      this.missing -= rest.length;
      if (this.missing <= 0) this.answered();
      return;
    }
    this.tail = (this.tail + rest).slice(-LAST_CHUNK.length);
    if (this.tail === LAST_CHUNK) this.answered();
  }

  private answered(): void {
    const answer = { status: Number(this.head.slice(9, 12)), body: this.body.join('') };
    this.head = '';
    this.body = [];
    this.tail = '';
    this.missing = -1;
    this.isHead = true;
    const waiting = this.waiting;
    this.waiting = undefined;
    waiting?.resolve(answer);
  }
}

export function requestText(method: string, target: string, headers: Record<string, string>, body = ''): string {
  const all = {
    host: '127.0.0.1',
    ...headers,
    ...(body ? { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) } : {}),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}
