import { describe, expect, it } from '@jest/globals';
import { DATA_URLS_ONLY, type MediaUrls } from '@slipway/contracts';
import type { GatewayError } from '../gateway.errors.js';
import { MediaCheck } from './media-check.js';
import { MediaWalk } from './media-walk.js';
import { BodyScan, type RequestBody } from './request-body.js';

const PNG = 'data:image/png;base64,iVBORw0KGgo=';
const URL = 'https://evil.example/a.png';

function bodyOf(body: unknown): RequestBody {
  const text = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const scan = new BodyScan();
  scan.push(text);
  return scan.end(text);
}

/** Returns the path that is refused, or undefined. */
async function refusedAt(body: unknown, rule: MediaUrls = DATA_URLS_ONLY): Promise<string | null | undefined> {
  try {
    await new MediaCheck(bodyOf(body)).assertAllowed([rule]);
    return undefined;
  } catch (error) {
    const { status, code, param, message } = error as GatewayError;
    expect([status, code, message.includes(param as string)]).toEqual([400, 'media_url_refused', true]);
    return param;
  }
}

const ofParts = (...content: unknown[]) => ({ model: 'm', messages: [{ role: 'user', content }] });
const AT = 'messages[0].content[0]';

describe('a URL that an engine would fetch is found', () => {
  it.each<[unknown, string]>([
    [{ type: 'image_url', image_url: { url: URL, detail: 'low' } }, '.image_url.url'],
    [{ type: 'image_url', image_url: URL }, '.image_url'],
    [{ image_url: { url: URL } }, '.image_url.url'],
    [{ type: 'text', text: 'x', image_url: { url: URL } }, '.image_url.url'],
    [{ type: 'input_image', image_url: URL }, '.image_url'],
    [{ type: 'input_file', file_url: URL }, '.file_url'],
    [{ type: 'input_file', file_data: URL, filename: 'a.pdf' }, '.file_data'],
    [{ type: 'video_url', video_url: { url: URL } }, '.video_url.url'],
    [{ type: 'audio_url', audio_url: { url: URL } }, '.audio_url.url'],
    [{ type: 'input_audio', input_audio: { data: URL, format: 'wav' } }, '.input_audio.data'],
    [{ type: 'input_audio', input_audio: { url: '/9j/x', format: 'wav' } }, '.input_audio.url'],
    [{ type: 'file', file: { file_data: URL } }, '.file.file_data'],
    [{ type: 'file', file: { file_id: 'gs://bucket/a.pdf', format: 'application/pdf' } }, '.file.file_id'],
    [{ type: 'file', file: { filename: 'a', file: { deep: [[{ url: 'x' }]] } } }, '.file.file.deep[0][0].url'],
    [{ type: 'image', source: { type: 'url', url: URL } }, '.source.url'],
    [{ type: 'image', source: { type: 'base64', data: ' \t\n' + URL } }, '.source.data'],
    [
      { type: 'document', source: { type: 'content', content: [{ type: 'image', source: { url: URL } }] } },
      '.source.content[0].source.url',
    ],
    [
      { type: 'tool_result', content: [{ type: 'image', source: { type: 'url', url: URL } }] },
      '.content[0].source.url',
    ],
    [{ type: 'image', image: URL }, '.image'],
    [{ type: 'image', image: '/etc/passwd' }, '.image'],
    [{ type: 'image', path: '../secret.png' }, '.path'],
    [{ type: 'video', video: [PNG, URL] }, '.video[1]'],
    [{ type: 'media', fileData: { fileUri: URL } }, '.fileData.fileUri'],
    [{ type: 'image_url', image_url: { url: '//evil.example/a' } }, '.image_url.url'],
    [{ type: 'image_url', image_url: { url: ' ' + PNG } }, '.image_url.url'],
    [{ type: 'image_url', image_url: { url: 'x'.repeat(20_000) } }, '.image_url.url'],
    [{ type: 'file', file: { file_data: ' '.repeat(20_000) + URL } }, '.file.file_data'],
    [{ type: 'file', file: { file_data: '\u00a0\u0001' + URL } }, '.file.file_data'],
    [{ type: 'file', file: { file_data: 'HT\tTP:evil.example' } }, '.file.file_data'],
    [{ type: 'file', file: { file_data: 'subfile,,start,0,end,9,,:/etc/passwd' } }, '.file.file_data'],
    [{ type: 'input_audio', input_audio: { data: 'async:' + URL } }, '.input_audio.data'],
    [{ type: 'video', frames: [PNG, URL] }, '.frames[1]'],
    [{ type: 'image', image_path: '/etc/passwd' }, '.image_path'],
    [{ type: 'image', img: '../secret.png' }, '.img'],
    [{ type: 'image', src: URL }, '.src'],
    [{ type: 'pdf', pdf: URL }, '.pdf'],
    // Other spellings that some reader accepts.
    [{ type: 'image_url', IMAGE_URL: { Url: URL } }, '.IMAGE_URL.Url'],
    [{ type: 'image_url', imageUrl: { url: URL } }, '.imageUrl.url'],
    [{ type: 'file', ſource: { url: URL } }, '.ſource.url'],
    [{ type: 'image_url', image_url: { annotations: { url: URL } } }, '.image_url.annotations.url'],
  ])('%j', async (part, path) => {
    expect(await refusedAt(ofParts(part))).toBe(AT + path);
  });

  it('in any member, and however it is escaped', async () => {
    expect(await refusedAt({ input: [{ image: URL }] })).toBe('input[0].image');
    expect(await refusedAt({ input: URL, modality: 'image' })).toBe('input');
    expect(await refusedAt({ image_url: URL })).toBe('image_url');
    expect(await refusedAt({ prompt: { images: [URL] } })).toBe('prompt.images[0]');
    expect(
      await refusedAt('{"messages":[{"content":[{"\\u0069mage\\u005furl":{"ur\\u006c":"\\u0068ttp:\\/\\/a"}}]}]}'),
    ).toBe('messages[0].content[0].image_url.url');
  });

  it('in each of two equal names, because engines take either', async () => {
    const twice = (first: string, second: string): string =>
      `{"messages":[{"content":[{"image_url":{"url":"${first}","url":"${second}"}}]}]}`;
    for (const [first, second] of [
      [PNG, URL],
      [URL, PNG],
    ] as const)
      expect(await refusedAt(twice(first, second))).toBe('messages[0].content[0].image_url.url');
    expect(await refusedAt(`{"messages":[{"image_url":"${URL}"}],"messages":[]}`)).toBe('messages[0].image_url');
    expect(await refusedAt(twice(PNG, PNG))).toBeUndefined();
  });
});

it.each<[string, unknown]>([
  ['data URLs', ofParts({ type: 'image_url', image_url: { url: PNG, detail: 'auto' } }, { image_url: 'DATA:,x' })],
  [
    'a data URL with an escaped slash',
    '{"messages":[{"content":[{"image_url":{"url":"data:image\\/png;base64,AA"}}]}]}',
  ],
  ['base64 of sound', ofParts({ type: 'input_audio', input_audio: { data: '//uQxAAA', format: 'mp3' } })],
  ['base64 of a file', ofParts({ type: 'file', file: { file_data: 'JVBERi0x', filename: 'Report: Q3.pdf' } })],
  ['ids', ofParts({ type: 'file', file: { file_id: 'file-abc' } })],
  ['a text that is a URL', ofParts({ type: 'text', text: URL })],
  ['a message that is a URL', { messages: [{ role: 'user', content: URL }], prompt: URL, input: [URL] }],
  ['an input that is a URL', { input: URL, modality: 'text' }],
  ['a source of a text', { documents: [{ text: 'x', source: URL }] }],
  ['schemas of tools', { tools: [{ type: 'function', function: { parameters: { url: { default: URL } } } }] }],
  ['a schema of the answer', { response_format: { json_schema: { schema: { image_url: URL } } } }],
  [
    'what a model wrote',
    { messages: [{ role: 'assistant', content: 'x', annotations: [{ url_citation: { url: URL } }] }] },
  ],
  ['a call', { messages: [{ tool_calls: [{ function: { name: 'open', arguments: `{"url":"${URL}"}` } }] }] }],
  ['no string at all', ofParts({ image_url: { url: null, detail: 1 } }, { image: true })],
  ['an empty one', ofParts({ image_url: { url: '' } })],
])('accepts %s', async (_what, body) => expect(await refusedAt(body)).toBeUndefined());

it('accepts the hosts of a rule, and names the first that is no such host', async () => {
  const rule: MediaUrls = { allow: 'hosts', hosts: ['a.example', '*.b.example'] };
  const of = (...urls: string[]) => ofParts(...urls.map((url) => ({ image_url: { url } })));
  expect(await refusedAt(of(PNG, 'https://a.example/1', 'HTTPS://x.B.example/'), rule)).toBeUndefined();
  expect(await refusedAt(of('https://a.example/1', 'https://c.example/'), rule)).toBe(
    'messages[0].content[1].image_url.url',
  );
  expect(await refusedAt(of('https://a.example@c.example/'), rule)).toBe('messages[0].content[0].image_url.url');
  expect(await refusedAt(of(`https://a.example/${'x'.repeat(10_000)}`), rule)).toBe(
    'messages[0].content[0].image_url.url',
  );
});

it('reads a body that no rule is about not at all, and each body once', async () => {
  const { text, members } = bodyOf(ofParts({ image_url: { url: URL } }));
  let reads = 0;
  const counted = {
    get text() {
      reads += 1;
      return text;
    },
    members,
  };
  const check = new MediaCheck(counted);
  expect([check.assertAllowed([]), reads]).toEqual([undefined, 0]);
  for (const _ of [1, 2]) expect(() => check.assertAllowed([DATA_URLS_ONLY])).toThrow('data:');
  expect(reads).toBe(1);
});

it('finds the same in steps of any size', () => {
  const url = (n: number): string => `https://h${n}.example/`;
  const parts = [
    { image_url: { url: url(1) } },
    { text: 'a "quoted" \\ text\\\\', 'k\\"ey': [[], {}, [{ image: [url(2), { file: url(3) }] }]] },
    { type: 'text', text: 'x'.repeat(500) + '\\"'.repeat(200) },
    { input_audio: { data: '"\\', more: { x: [1, -2.5e3, true, null, url(4)] } } },
    { image_url: '\\\\' },
  ];
  const { text, members } = bodyOf({
    a: 1,
    ...ofParts(...parts),
    b: [],
    tools: [{ url: url(5) }],
    input: { uri: url(6) },
  });
  const seen = [1, 3, 17, 1_000_000].map((step) => {
    const walk = new MediaWalk(text, members);
    while (!walk.advance(step));
    return [[...walk.hosts], walk.other];
  });
  expect(seen[0]).toEqual([
    [
      ['h1.example', 'messages[0].content[0].image_url.url'],
      ['h2.example', 'messages[0].content[1].k\\"ey[2][0].image[0]'],
      ['h3.example', 'messages[0].content[1].k\\"ey[2][0].image[1].file'],
      ['h4.example', 'messages[0].content[3].input_audio.more.x[4]'],
      ['h6.example', 'input.uri'],
    ],
    'messages[0].content[4].image_url',
  ]);
  for (const one of seen) expect(one).toEqual(seen[0]);
});

it.each([
  ['tiny tokens', '[],'],
  ['escaped quotes', '\\"'],
  ['pictures', '{"image_url":{"url":"http://a/"}},'],
  ['hosts', ''],
])('holds the event loop for less than 100 ms in 8 MiB of %s', (what, unit) => {
  const size = 8 * 1024 * 1024;
  const many =
    what === 'hosts'
      ? Array.from({ length: 200_000 }, (_, n) => `{"url":"http://h${n}.example/"}`).join()
      : unit.repeat(Math.floor(size / unit.length)).replace(/,$/, '');
  const body = bodyOf(what === 'escaped quotes' ? `{"messages":["${many}"]}` : `{"messages":[${many}]}`);
  const timesOf = (): number[] => {
    const walk = new MediaWalk(body.text, body.members);
    const times: number[] = [];
    for (let isDone = false; !isDone;) {
      const from = process.cpuUsage();
      isDone = walk.advance(256 * 1024);
      times.push(process.cpuUsage(from).user / 1_000);
    }
    return times;
  };
  // The processor time of the process includes its compiler and garbage collector, which are busy in other steps of
  // another walk.
  const [first, second, third] = [timesOf(), timesOf(), timesOf()];
  const longest = Math.max(...first.map((time, step) => Math.min(time, second[step]!, third[step]!)));
  expect(longest).toBeLessThan(100);
});
