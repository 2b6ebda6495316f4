import { spawn } from 'node:child_process';
import type { Socket } from 'node:dgram';

/** Docker's DNS listens here, in the network namespace of each container. */
export const RESOLVER = '127.0.0.11';

const A = 1;
const TTL_SECONDS = 600;
const HEADER_BYTES = 12;

/** Opens a socket in the namespace in which it runs, and hands it to its parent. */
const OPENER = `
const socket = require('node:dgram').createSocket('udp4');
socket.bind(53, '${RESOLVER}', () => process.send('open', socket, () => process.exit()));`;

/**
 * Replaces Docker's DNS: the name of a service has one address for each of its containers, in changing order. Other
 * names do not exist.
 */
export class NameServer {
  private readonly addresses = new Map<string, string[]>();
  private readonly sockets = new Map<string, Socket>();

  add(name: string, address: string): void {
    this.remove(name, address);
    this.addresses.set(name, [...this.addressesOf(name), address]);
  }

  remove(name: string, address: string): void {
    const left = this.addressesOf(name).filter((one) => one !== address);
    if (left.length > 0) this.addresses.set(name, left);
    else this.addresses.delete(name);
  }

  addressesOf(name: string): string[] {
    return this.addresses.get(name) ?? [];
  }

  /** Answers in this network namespace. */
  async serveIn(network: string): Promise<void> {
    const socket = await socketIn(network);
    this.sockets.set(network, socket);
    this.answerOn(socket);
  }

  answerOn(socket: Socket): void {
    const reply = socket.send.bind(socket);
    socket.on('message', (query, { port, address }) => reply(this.answerTo(query), port, address));
  }

  leave(network: string): void {
    this.sockets.get(network)?.close();
    this.sockets.delete(network);
  }

  close(): void {
    for (const network of [...this.sockets.keys()]) this.leave(network);
  }

  /** The answer to a query with one question. */
  private answerTo(query: Buffer): Buffer {
    const { name, type, end } = questionOf(query);
    const known = this.addressesOf(name);
    const first = Math.floor(Math.random() * known.length);
    const answers = type === A ? [...known.slice(first), ...known.slice(0, first)] : [];
    const header = Buffer.from(query.subarray(0, HEADER_BYTES));
    // A response with recursion, without an error or with NXDOMAIN: one question, and no records except the answers.
    header.writeUInt16BE(known.length > 0 ? 0x8180 : 0x8183, 2);
    [1, answers.length, 0, 0].forEach((count, index) => header.writeUInt16BE(count, 4 + 2 * index));
    return Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...answers.map(record)]);
  }
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** An address of the name in the question. */
function record(address: string): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16BE(0xc000 + HEADER_BYTES, 0);
  bytes.writeUInt16BE(A, 2);
  bytes.writeUInt16BE(1, 4);
  bytes.writeUInt32BE(TTL_SECONDS, 6);
  bytes.writeUInt16BE(4, 10);
  address.split('.').forEach((part, index) => bytes.writeUInt8(Number(part), 12 + index));
  return bytes;
}

function socketIn(network: string): Promise<Socket> {
  const words = ['netns', 'exec', network, process.execPath, '-e', OPENER];
  const child = spawn('ip', words, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  return new Promise((resolve, reject) => {
    child.once('message', (_message, socket) => resolve(socket as unknown as Socket));
    child.once('error', reject);
    child.once('exit', (code) => code !== 0 && reject(new Error(`no socket in ${network}: ${code}`)));
  });
}
