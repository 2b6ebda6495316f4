import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SampleServer } from './sample-server.js';

let server: SampleServer;

beforeAll(async () => {
  server = await SampleServer.start();
});
afterAll(async () => {
  await server?.close();
});

interface RawAnswer {
  status: number;
  code: string | undefined;
  headers: Map<string, string>;
  text: string;
}

/** Sends a request as bytes, because clients of a library cannot send most of these. */
async function ask(line: string, lines: string[] = [], body = ''): Promise<RawAnswer> {
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  const head = [`${line} HTTP/1.1`, 'Host: a', 'Connection: close', 'Authorization: Bearer ok', ...lines, ...length];
  const answer = await server.raw(`${head.join('\r\n')}\r\n\r\n${body}`);
  const [first = '', ...rest] = answer.split('\r\n');
  const end = rest.indexOf('');
  const text = rest.slice(end + 1).join('\r\n');
  const headers = rest.slice(0, end).map((one): [string, string] => {
    const at = one.indexOf(': ');
    return [one.slice(0, at).toLowerCase(), one.slice(at + 2)];
  });
  const code = text.startsWith('{') ? JSON.parse(text).error?.code : undefined;
  return { status: Number(first.split(' ')[1]), code, headers: new Map(headers), text };
}

describe('a method', () => {
  const ALLOWED = 'GET, HEAD, PUT, OPTIONS';

  it.each(['POST', 'DELETE', 'PATCH', 'PROPFIND', 'TRACE', 'QUERY', 'PURGE', 'LINK', 'get', 'Put', 'FROBNICATE', '!'])(
    '%s that a path does not have is 405, before parameters and body are read',
    async (method) => {
      for (const path of ['/api/v1/samples/x', '/api/v1/samples/x?strict=maybe&strict']) {
        const answer = await ask(`${method} ${path}`, ['Content-Type: nonsense', 'Content-Encoding: gzip'], '{"a');
        expect([answer.status, answer.code, answer.headers.get('allow')]).toEqual([405, 'method_not_allowed', ALLOWED]);
        expect(answer.headers.get('x-request-id')).toBe(JSON.parse(answer.text).error.request_id);
      }
    },
  );

  it.each(['POST', 'PROPFIND', 'get', 'FROBNICATE'])('%s of a path that does not exist is 404', async (method) => {
    const answer = await ask(`${method} /api/v1/nothing`, ['Content-Type: text/plain'], 'x');
    expect([answer.status, answer.code, answer.headers.get('allow')]).toEqual([404, 'not_found', undefined]);
  });

  it('CONNECT opens no connection', async () => {
    const answer = await ask('CONNECT example.com:443');
    expect([answer.status, answer.code, answer.headers.has('allow')]).toEqual([405, 'method_not_allowed', true]);
  });

  it.each([
    ['/api/v1/samples/x', ALLOWED],
    ['/api/v1/samples/x?strict=maybe', ALLOWED],
    ['/api/v1/failures', 'POST, OPTIONS'],
    ['/healthz', 'GET, HEAD, OPTIONS'],
    ['/docs', 'GET, HEAD, OPTIONS'],
    ['/openapi.json', 'GET, HEAD, OPTIONS'],
    ['/', 'GET, HEAD, OPTIONS'],
    ['*', 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT'],
  ])('OPTIONS of %s names its methods', async (path, allowed) => {
    const answer = await ask(`OPTIONS ${path}`, ['Content-Type: text/plain', 'Accept: text/html'], 'x');
    expect([answer.status, answer.headers.get('allow'), answer.text]).toEqual([204, allowed, '']);
  });

  it.each(['/api/v1/samples/x', '/healthz', '/docs', '/openapi.json', '/'])(
    'HEAD of %s has the head of GET, and no content',
    async (path) => {
      const [head, get] = await Promise.all([ask(`HEAD ${path}`), ask(`GET ${path}`)]);
      expect([head.status, head.text]).toEqual([get.status, '']);
      for (const name of ['content-type', 'content-length', 'etag', 'vary'])
        expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
    },
  );

  it('HEAD of what has no GET is 405', async () => {
    const answer = await ask('HEAD /api/v1/failures');
    expect([answer.status, answer.headers.get('allow'), answer.text]).toEqual([405, 'POST, OPTIONS', '']);
  });
});

describe('the type of an answer', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/*',
    '*/*',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'text/html, application/json;q=0.1',
    'nonsense',
    '',
  ])('is JSON for Accept: %s', async (accept) => {
    const answer = await ask('GET /api/v1/samples/x', [
      `Accept: ${accept}`,
      'Accept-Language: tlh',
      'Accept-Charset: x',
    ]);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  });

  it.each(['text/html', 'application/xml, text/*;q=0.5', 'application/json;q=0', '*/*;q=0.0', 'text/event-stream'])(
    'does not exist for Accept: %s, and the error is JSON',
    async (accept) => {
      for (const [line, body] of [
        ['GET /api/v1/samples/x', ''],
        ['POST /api/v1/samples', '{"name":"plain"}'],
      ] as const) {
        const answer = await ask(line, [`Accept: ${accept}`, 'Content-Type: application/json'], body);
        expect([answer.status, answer.code]).toEqual([406, 'not_acceptable']);
        expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      }
    },
  );

  it('is checked after the credential, and not outside of the API', async () => {
    const refused = await server.send('GET', '/api/v1/samples/x', { token: 'no', headers: { accept: 'text/html' } });
    expect(refused.status).toBe(401);
    for (const path of ['/healthz', '/openapi.json'])
      expect((await ask(`GET ${path}`, ['Accept: image/png'])).status).toBe(200);
  });

  it('no answer is compressed', async () => {
    const answer = await ask('GET /openapi.json', ['Accept-Encoding: gzip, br, identity;q=0']);
    expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, undefined]);
  });
});

describe('the type of a body', () => {
  const BODY = '{"name":"abc"}';

  it.each([
    'application/json',
    'Application/JSON',
    'application/json;',
    'application/json; charset=utf-8',
    'application/json ;charset="UTF-8"; x=1',
  ])('may be %s', async (type) => {
    expect(await ask('PUT /api/v1/samples/x', [`Content-Type: ${type}`], BODY)).toMatchObject({ status: 200 });
  });

  it.each([
    ['missing', []],
    ['empty', ['Content-Type: ']],
    ['in another charset', ['Content-Type: application/json; charset=iso-8859-1']],
    ['in two charsets', ['Content-Type: application/json; charset=utf-8; charset=utf-16']],
    ['a list', ['Content-Type: application/json, text/plain']],
    ['given twice', ['Content-Type: application/json', 'Content-Type: text/plain']],
    ['a form', ['Content-Type: application/x-www-form-urlencoded']],
    ['JSON of another kind', ['Content-Type: application/vnd.api+json']],
    ['a merge patch', ['Content-Type: application/merge-patch+json']],
    ['a file', ['Content-Type: application/octet-stream']],
  ])('is refused if it is %s, with the types that are read', async (_what, lines) => {
    const answer = await ask('PUT /api/v1/samples/x', lines, BODY);
    expect([answer.status, answer.code]).toEqual([415, 'unsupported_media_type']);
    expect(answer.headers.get('accept')).toBe('application/json');
  });

  it('lists a file where one is read', async () => {
    const answer = await ask('PUT /api/v1/streams', ['Content-Type: text/plain'], 'x');
    expect(answer.headers.get('accept')).toBe('application/json, application/octet-stream');
  });

  it.each(['gzip', 'GZIP', 'br', 'identity, deflate', 'x-unknown'])('is refused in the coding %s', async (coding) => {
    const lines = ['Content-Type: application/json', `Content-Encoding: ${coding}`];
    const answer = await ask('PUT /api/v1/samples/x', lines, BODY);
    expect([answer.status, answer.code]).toEqual([415, 'unsupported_media_type']);
    expect(answer.headers.get('accept-encoding')).toBe('identity');
  });

  it('may have no coding by name', async () => {
    const lines = ['Content-Type: application/json', 'Content-Encoding: Identity'];
    expect((await ask('PUT /api/v1/samples/x', lines, BODY)).status).toBe(200);
  });

  it('does not matter without a body, but an empty file is one', async () => {
    for (const lines of [['Content-Type: text/plain'], ['Content-Type: text/plain', 'Content-Encoding: gzip']])
      for (const length of [[], ['Content-Length: 0']])
        expect((await ask('POST /api/v1/samples/x/touch', [...lines, ...length])).status).toBe(200);
    const empty = await ask('PUT /api/v1/streams', ['Content-Type: application/octet-stream', 'Content-Length: 0']);
    expect(empty.text).toBe('{"bytes":0}');
  });
});
