import { expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import { pushRequest, type Destination } from './push-request.js';

const destination = (change: Partial<Destination>): Destination => ({
  provider: 'e2b',
  baseUrl: 'https://box.example.com/',
  externalId: 'box-1',
  credential: 'secret',
  ...change,
});
const file = (path = 'a/b c.txt') => ({
  path,
  sizeBytes: 5,
  content: Readable.from([Buffer.from('he'), Buffer.from('llo')], { objectMode: false }),
});

async function bodyOf(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

it.each([
  ['e2b', 'POST', 'https://box.example.com/files?path=a%2Fb%20c.txt', { 'x-access-token': 'secret' }],
  [
    'daytona',
    'POST',
    'https://box.example.com/toolbox/box-1/toolbox/files/upload?path=a%2Fb%20c.txt',
    { authorization: 'Bearer secret' },
  ],
  [
    'custom',
    'PUT',
    'https://box.example.com/box-1/files?path=a%2Fb%20c.txt',
    { authorization: 'Bearer secret', 'content-type': 'application/octet-stream', 'content-length': '5' },
  ],
] as const)('asks %s as it wants to be asked', (provider, method, url, headers) => {
  expect(pushRequest(destination({ provider }), file())).toMatchObject({ method, url, headers });
});

it('declares the exact length of a multipart body that any parser reads', async () => {
  const request = pushRequest(destination({}), file('x/"quo"ted\u00fc'));
  const body = await bodyOf(request.body);
  expect(request.headers['content-length']).toBe(String(body.length));
  const form = await new Response(body, { headers: { 'content-type': request.headers['content-type']! } }).formData();
  expect(await (form.get('file') as File).text()).toBe('hello');
});

it.each(['e2b', 'daytona', 'custom'] as const)('sends %s no empty credential', (provider) => {
  const { headers } = pushRequest(destination({ provider, credential: undefined }), file());
  expect(Object.keys(headers).filter((name) => ['authorization', 'x-access-token'].includes(name))).toEqual([]);
});

it('cannot be led to another path by an external id', () => {
  expect(pushRequest(destination({ provider: 'daytona', externalId: '../admin?x=' }), file()).url).toContain(
    '/toolbox/..%2Fadmin%3Fx%3D/toolbox/',
  );
});
