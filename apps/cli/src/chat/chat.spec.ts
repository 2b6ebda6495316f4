import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { runCommand, type RunOptions } from '../../test/run-command.js';

interface ChatCall {
  url: string;
  authorization: string | null;
  body: { model: string; stream?: boolean; messages: { role: string; content: string }[]; max_tokens?: number };
}
let asked: ChatCall[];
let answers: ((signal: AbortSignal) => Response)[];
let gatewayUrl: string | undefined;

beforeEach(() => {
  [asked, answers, gatewayUrl] = [[], [], 'http://gateway.test:7080'];
});

const event = (data: unknown) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const delta = (content: string) => event({ choices: [{ delta: { content } }] });
const end = (finish_reason = 'stop') => event({ choices: [{ delta: {}, finish_reason }] }) + event('[DONE]');
const streamed = (...parts: string[]) =>
  new Response(parts.join(''), { headers: { 'content-type': 'text/event-stream' } });
const refused = (status: number, error: object, headers: Record<string, string> = {}) =>
  Response.json({ error }, { status, headers: { 'x-request-id': 'req_7', ...headers } });
/** Says this, and then nothing until the client leaves. */
const unending = (text: string, signal: AbortSignal) => {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode(delta(text)));
      signal.addEventListener('abort', () => controller.error(signal.reason));
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
};

const fetch: typeof globalThis.fetch = async (url, init) => {
  if (String(url).includes('/api/v1/system')) return Response.json({ version: '1', gateway_url: gatewayUrl });
  const headers = new Headers(init?.headers);
  const body = JSON.parse(String(init?.body)) as ChatCall['body'];
  asked.push({ url: String(url), authorization: headers.get('authorization'), body });
  return (answers.shift() ?? (() => streamed(delta('yes'), end())))(init!.signal!);
};
const chat = (words: string[], options: RunOptions = {}) => runCommand(['chat', ...words], { fetch, ...options });

describe('one message', () => {
  it('is sent to the gateway that the api names, and the answer is written while it arrives', async () => {
    answers = [() => streamed(': heartbeat\n\n', delta('Because '), delta('it is.\n'), end())];
    const ran = await chat(['chat', 'Why', 'is the sky blue?', '--system', 'Be brief', '--max-tokens', '9']);
    expect(ran).toEqual({ code: 0, stdout: 'Because it is.\n', stderr: '' });
    const messages = [
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: 'Why is the sky blue?' },
    ];
    expect(asked).toEqual([
      {
        url: 'http://gateway.test:7080/v1/chat/completions',
        authorization: 'Bearer slw_a_b',
        body: { model: 'chat', messages, max_tokens: 9, stream: true },
      },
    ]);
  });

  it('comes from stdin without words or with -', async () => {
    for (const words of [['chat'], ['chat', '-']])
      expect(await chat(words, { stdin: 'from a pipe\n' })).toMatchObject({ code: 0, stdout: 'yes\n' });
    expect(asked.map(({ body }) => body.messages)).toEqual(
      Array.from({ length: 2 }, () => [{ role: 'user', content: 'from a pipe' }]),
    );
    expect(await chat(['chat'])).toMatchObject({ code: 1, stderr: expect.stringContaining('The message is empty') });
  });

  it('is answered as one object for programs', async () => {
    const answer = { choices: [{ message: { content: 'yes' } }], usage: { total_tokens: 3 } };
    answers = [() => Response.json(answer), () => Response.json(answer)];
    expect(JSON.parse((await chat(['chat', 'a', '-o', 'json'])).stdout)).toEqual(answer);
    expect((await chat(['chat', 'a', '--jq', '.usage.total_tokens'])).stdout).toBe('3\n');
    expect(asked.map(({ body }) => body.stream)).toEqual([undefined, undefined]);
  });

  it('tells when the answer was cut by its length, and gives a terminal nothing to obey', async () => {
    answers = [() => streamed(delta('a\u001b[2Jb\nc'), end('length'))];
    const { stdout, stderr } = await chat(['chat', 'a'], { columns: 80 });
    expect([stdout, stderr]).toEqual(['a [2Jb\nc\n', expect.stringContaining('--max-tokens')]);
    answers = [() => streamed(event({ choices: [{ delta: { reasoning_content: 'hm' } }] }), delta('yes'), end())];
    expect((await chat(['chat', 'a'])).stdout).toBe('yes\n');
  });

  it('ends with Ctrl-C, and what was said stays', async () => {
    const stop = new AbortController();
    answers = [(signal) => unending('so far', signal)];
    const onWrite = (text: string) => {
      if (text.includes('so far')) stop.abort();
    };
    expect(await chat(['chat', 'a'], { signal: stop.signal, onWrite })).toMatchObject({ code: 2, stdout: 'so far\n' });
  });
});

describe('an error', () => {
  it.each([
    [401, 'invalid_api_key', {}, 4, 'slipway whoami'],
    [404, 'model_not_found', {}, 6, 'slipway routes get chat'],
    [503, 'unavailable', { 'retry-after': '7' }, 1, 'Try again in 7 s. Run slipway instances list chat'],
    [503, 'start_failed', {}, 1, 'slipway logs chat'],
    [400, 'context_length_exceeded', {}, 1, 'Shorten the message'],
    [429, 'quota_exceeded', { 'retry-after': '2' }, 1, 'Try again in 2 s.'],
  ])('%i %s has a hint', async (status, code, headers, exit, hint) => {
    answers = [() => refused(status, { message: 'It is so.', code, type: 'x', param: null }, headers as {})];
    const ran = await chat(['chat', 'a']);
    expect([ran.code, ran.stdout]).toEqual([exit, '']);
    expect(ran.stderr).toMatch(
      new RegExp(`^Error: It is so\\.\n {2}code: ${code}\n {2}what to do: .*\n {2}request: req_7`),
    );
    expect(ran.stderr).toContain(hint);
  });

  it('in the middle of an answer ends it, and so does an answer that is cut off', async () => {
    answers = [() => streamed(delta('half'), event({ error: { message: 'Gone.', code: 'upstream_error' } }))];
    const failed = await chat(['chat', 'a']);
    expect(failed).toMatchObject({ code: 1, stdout: 'half\n', stderr: expect.stringContaining('slipway logs chat') });
    answers = [() => streamed(delta('half'))];
    expect((await chat(['chat', 'a'])).stderr).toContain('The answer was cut off');
    answers = [() => new Response('<html>', { status: 404 })];
    expect((await chat(['chat', 'a'])).stderr).toMatch(/not from a gateway of Slipway[^]*--gateway/);
    answers = [() => Promise.reject(new TypeError('refused')) as never];
    expect((await chat(['chat', 'a'])).stderr).toMatch(/does not respond: refused[^]*slipway doctor/);
  });
});

describe('the address of the gateway', () => {
  it('is that of the flag, the variable or the api, with or without /v1', async () => {
    await chat(['chat', 'a', '--gateway', 'http://a.test/v1/']);
    await chat(['chat', 'a'], { env: { SLIPWAY_GATEWAY_URL: 'http://b.test/behind/v1' } });
    await chat(['chat', 'a']);
    expect(asked.map(({ url }) => url.replace('/v1/chat/completions', ''))).toEqual([
      'http://a.test',
      'http://b.test/behind',
      'http://gateway.test:7080',
    ]);
  });

  it('gets no token if it is one of the own machine of another api, or no address', async () => {
    gatewayUrl = 'http://127.0.0.1:7080';
    const other = await chat(['chat', 'a']);
    expect([other.code, other.stderr]).toEqual([1, expect.stringMatching(/its own machine[^]*SLIPWAY_GATEWAY_URL/)]);
    gatewayUrl = undefined;
    expect((await chat(['chat', 'a'])).stderr).toContain('does not name its gateway');
    expect((await chat(['chat', 'a', '--gateway', 'gateway.test'])).stderr).toContain('not a valid URL');
    expect(asked).toEqual([]);
    gatewayUrl = 'http://127.0.0.1:7080';
    expect((await chat(['chat', 'a'], { env: { SLIPWAY_URL: 'http://127.0.0.1:7070' } })).code).toBe(0);
  });
});

describe('a conversation', () => {
  /** Types each line once the command has written what comes before it. */
  async function converse(...steps: (readonly [after: RegExp, keys: string])[]) {
    const keys = new PassThrough();
    let seen = '';
    const onWrite = (text: string) => {
      seen += stripVTControlCharacters(text);
      const [after, typed] = steps[0] ?? [];
      if (!after?.test(seen)) return;
      steps.shift();
      seen = '';
      keys.write(typed!);
    };
    const ran = await chat(['chat', '--system', 'Be brief'], { columns: 80, env: { NO_COLOR: '1' }, keys, onWrite });
    expect(steps).toEqual([]);
    return ran;
  }

  it('remembers what was said, and ends with Ctrl-D', async () => {
    answers = [() => streamed(delta('one'), end()), () => streamed(delta('two'), end())];
    const ran = await converse([/>>> $/, 'first\r'], [/>>> $/, 'second\r'], [/>>> $/, '\u0004']);
    expect([ran.code, ran.stdout]).toEqual([0, 'one\ntwo\n']);
    expect(asked[1]?.body.messages.map(({ content }) => content)).toEqual(['Be brief', 'first', 'one', 'second']);
  });

  it('survives Ctrl-C during an answer, which only ends that answer', async () => {
    answers = [(signal) => unending('so far', signal), () => streamed(delta('next'), end())];
    const ran = await converse([/>>> $/, 'first\r'], [/so far/, '\u0003'], [/>>> $/, 'second\r'], [/>>> $/, '/bye\r']);
    expect([ran.code, ran.stdout]).toEqual([0, 'so far\nnext\n']);
    expect(asked[1]?.body.messages.map(({ content }) => content)).toEqual(['Be brief', 'first', 'so far', 'second']);
  });

  it('survives an error, and forgets the message that had no answer', async () => {
    answers = [() => refused(503, { message: 'Busy.', code: 'overloaded' }, { 'retry-after': '1' })];
    const ran = await converse([/>>> $/, 'first\r'], [/>>> $/, 'second\r'], [/>>> $/, '\u0004']);
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([0, 'yes\n', expect.stringContaining('Error: Busy.')]);
    expect(asked[1]?.body.messages.map(({ content }) => content)).toEqual(['Be brief', 'second']);
  });

  it('has commands, refuses unknown ones, and leaves with a second Ctrl-C', async () => {
    const ran = await converse(
      [/>>> $/, 'first\r'],
      [/>>> $/, '/clear\r'],
      [/>>> $/, '/help\r'],
      [/Ctrl-C .*>>> $/s, '/nonsense\r'],
      [/>>> $/, 'second\r'],
      [/>>> $/, '\u0003'],
      [/again to leave.*>>> $/s, '\u0003'],
    );
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('/nonsense is not a command')]);
    expect(asked[1]?.body.messages.map(({ content }) => content)).toEqual(['Be brief', 'second']);
  });

  it('is not for programs', async () => {
    const ran = await chat(['chat', '-o', 'json'], { columns: 80 });
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining('A conversation has no JSON')]);
  });
});
