import { expect, it } from '@jest/globals';
import { MessageParser, messagesOf, type StreamMessage } from './event-stream.js';

const read = (text: string, size: number): StreamMessage[] => {
  const parser = new MessageParser();
  const messages: StreamMessage[] = [];
  for (let at = 0; at < text.length; at += size) messages.push(...parser.push(text.slice(at, at + size)));
  return messages;
};

const STREAM = [
  'retry: 2000\n\n',
  'id: 1\nevent: a\ndata: one\n\n',
  ': heartbeat\n\n',
  'id: 2\r\nevent: b\r\ndata: two\r\ndata: more\r\n\r\n',
  'data:three\r\r',
  'event: nothing\n\n',
  'id\ndata\n\n',
  'id: 9\nevent: cut\ndata: off',
].join('');

it.each([1, 2, 3, 7, STREAM.length])('messages are read however they are cut: in parts of %i', (size) => {
  expect(read(STREAM, size)).toEqual([
    { id: '1', type: 'a', data: 'one' },
    { id: '2', type: 'b', data: 'two\nmore' },
    { id: '2', type: 'message', data: 'three' },
    { id: '', type: 'message', data: '' },
  ]);
});

it('the parser returns the wait that the server sets, and refuses a message without an end', () => {
  const parser = new MessageParser();
  parser.push('retry: 2500\nretry: soon\n\n');
  expect(parser.retryMs).toBe(2500);
  const much = `data: ${'x'.repeat(1024 * 1024)}`;
  expect(() => {
    for (let count = 0; count < 20; count += 1) parser.push(much);
  }).toThrow('too long');
  const lines = new MessageParser();
  expect(() => {
    for (let count = 0; count < 20; count += 1) lines.push(`${much}\n`);
  }).toThrow('too long');
});

it('a silent stream is reported as silent, not as ended, and released', async () => {
  let isLeft = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('data: one\n\n')),
    cancel: () => void (isLeft = true),
  });
  const messages = messagesOf(new Response(body, { headers: { 'content-type': 'text/event-stream' } }), {
    silenceMs: 50,
  });
  expect((await messages.next()).value).toEqual({ id: undefined, type: 'message', data: 'one' });
  await expect(messages.next()).rejects.toMatchObject({ code: 'timed_out', retryable: true });
  expect(isLeft).toBe(true);
});

it.each([
  ['a line', 'x'],
  ['many lines of one message', 'data:\n'],
  ['returns that may be the first half of a line end', 'data:\r'],
])('%s that arrives in 100,000 parts is read once', (_name, part) => {
  const parser = new MessageParser();
  const before = process.cpuUsage();
  for (let count = 0; count < 100_000; count += 1) parser.push(part);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(1_000);
  expect(parser.push('\n\n').length).toBeLessThan(2);
});
