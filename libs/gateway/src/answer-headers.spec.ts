import { expect, it } from '@jest/globals';
import { isCoded, isEventStream, returnedHeaders } from './headers.js';

const returned = (headers: Record<string, string | string[]>) =>
  returnedHeaders(headers as never, { 'x-request-id': 'ours' });

it('10.9g: keeps to itself who the engine is, where it is, and what browsers shall do', () => {
  const dropped = {
    server: 'llama.cpp',
    'access-control-allow-origin': '*',
    'access-control-allow-credentials': 'true',
    'set-cookie': ['a=b'],
    'strict-transport-security': 'max-age=1',
    'x-powered-by': 'x',
    via: '1.1 x',
    'alt-svc': 'h3=":1"',
    location: 'http://10.0.0.7/',
    'content-length': '7',
    'content-encoding': 'identity',
    'x-request-id': 'theirs',
  };
  const kept = { 'content-type': 'application/json', 'openai-processing-ms': '7', 'x-custom': 'kept' };
  expect(returned({ ...dropped, ...kept })).toEqual({ ...kept, 'x-request-id': 'ours' });
});

it.each(['/models/x.gguf', 'file:///models/x', 'model=/srv/models/x/', 'C:\\models\\x.gguf', '~/models/x', '/x.gguf'])(
  '10.9g: no header carries %s',
  (path) => {
    expect(returned({ 'x-model': path, 'x-models': ['a', path] })).toEqual({ 'x-request-id': 'ours' });
  },
);

it('10.9d: takes the first of a doubled header that counts once', () => {
  const twice = { 'content-type': ['text/event-stream', 'application/json'], 'retry-after': ['7', '8'] };
  expect(isEventStream(twice as never)).toBe(true);
  expect(returned(twice)).toEqual({ 'content-type': 'text/event-stream', 'retry-after': '7', 'x-request-id': 'ours' });
  expect(isCoded({ 'content-encoding': ['identity', 'gzip'] } as never)).toBe(true);
  expect([isCoded({}), isCoded({ 'content-encoding': 'identity' }), isCoded({ 'content-encoding': '' })]).toEqual(
    Array(3).fill(false),
  );
});

it('10.9d: passes no value on that cannot be written', () => {
  expect(returned({ 'x-odd': 'a\u20acb', 'x-nul': 'a\0', 'x-fine': 'é' })).toEqual({
    'x-fine': 'é',
    'x-request-id': 'ours',
  });
});
