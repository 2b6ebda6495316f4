import { expect, it } from '@jest/globals';
import { EventStream } from './event-stream.js';
import { utf8Of } from './held-text.js';

/** Returns the events, the comments and the most held bytes of a stream that arrives in pieces of this size. */
function read(stream: string | Buffer, size: number, maxWhole = 1_000): { seen: string[]; held: number } {
  const seen: string[] = [];
  let long = '';
  const events = new EventStream(
    {
      event: (data, name) => void seen.push(`${name}|${utf8Of(data)}`),
      comment: () => void seen.push('comment'),
      piece: (data) => void (long += data),
      endOfPieces: (name) => {
        seen.push(`${name}|long ${utf8Of(long)}`);
        long = '';
      },
    },
    maxWhole,
  );
  const bytes = Buffer.from(stream);
  let held = 0;
  for (let at = 0; at < bytes.length; at += size) {
    events.push(bytes.subarray(at, at + size));
    held = Math.max(held, events.heldBytes);
  }
  events.end();
  return { seen, held };
}

const STREAMS: [what: string, stream: string, seen: string[]][] = [
  ['with LF', 'data: a\n\ndata: b\n\n', ['|a', '|b']],
  ['with CR', 'data: a\r\rdata: b\r\r', ['|a', '|b']],
  ['with CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['|a', '|b']],
  ['with mixed line ends', 'data: a\r\ndata: b\n\r\ndata: c\r\n\n', ['|a\nb', '|c']],
  ['with several data lines', 'data: {\ndata: }\n\ndata: x\n\n', ['|{\n}', '|x']],
  ['with empty data lines', 'data:\ndata\n\n', ['|\n']],
  ['without a space', 'data:a\n\ndata:  b\n\n', ['|a', '| b']],
  ['with comments', ': hi\n\n:\ndata: a\n\n', ['comment', 'comment', '|a']],
  ['with a byte order mark', '\ufeffdata: a\n\n', ['|a']],
  ['with a byte order mark only at its start', '\ufeffdata: a\n\n\ufeffdata: b\n\n', ['|a']],
  ['with names, ids and times', 'event: x\nid: 1\nretry: 5\ndata: a\n\ndata: b\n\n', ['x|a', '|b']],
  ['with a name after the data', 'data: a\nevent: y\n\n', ['y|a']],
  ['with the error field of older llama.cpp', 'error: {"code":500}\n\n', ['error|{"code":500}']],
  ['with an error that has no data', 'event: error\n\n', ['error|']],
  ['with an event without data', 'event: x\n\nid: 1\n\ndata: a\n\n', ['|a']],
  ['with unknown fields', 'dataset: x\nda: y\ndata: a\nerrors: z\n\n', ['|a']],
  ['with several bytes to a character', 'data: é€😀\n\n', ['|é€😀']],
  ['that ends without a blank line', 'data: a\n\ndata: b\n', ['|a', '|b']],
  ['that ends in a line', 'data: a\n\ndata: b', ['|a', '|b']],
  ['that ends in a field name', 'data: a\n\nda', ['|a']],
];

it.each(STREAMS)('reads a stream %s, wherever its bytes are cut', (_what, stream, seen) => {
  for (const size of [1, 2, 3, 5, 8, 1_000]) expect([size, read(stream, size).seen]).toEqual([size, seen]);
});

it('hands a long event over in pieces, and reads short ones after it', () => {
  const long = 'é'.repeat(5_000);
  for (const size of [1, 7, 100_000])
    expect(read(`event: x\ndata: ${long}\n\ndata: b\n\n`, size).seen).toEqual([`x|long ${long}`, '|b']);
});

it('holds no more than the limit of a line that does not end, and counts what it holds', () => {
  const { held } = read(`data: ${'x'.repeat(200_000)}`, 13, 1_000);
  expect(held).toBeGreaterThan(500);
  expect(held).toBeLessThan(1_200);
});
