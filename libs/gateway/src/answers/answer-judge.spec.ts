import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { AnswerJudge, judgeHead, type AnswerJudgement } from './answer-judge.js';

const CHAT = '/v1/chat/completions';
const STREAM = { 'content-type': 'text/event-stream; charset=utf-8' };
const JSON_HEAD = { 'content-type': 'application/json' };

function judgeOf(
  text: string | Buffer,
  status = 200,
  path = CHAT,
  size = 1_000_000,
  headers: IncomingHttpHeaders = JSON_HEAD,
): AnswerJudge {
  const judge = new AnswerJudge(path, status, headers);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) judge.push(bytes.subarray(at, at + size), at);
  return judge;
}
const brief = ({ outcome, fault }: AnswerJudgement): string => (fault ? `${outcome} ${fault}` : outcome);
const whole = (text: string, status = 200, path = CHAT): string => brief(judgeOf(text, status, path).end());
function streamed(text: string, size = 1_000_000): string {
  return brief(judgeOf(text, 200, CHAT, size, STREAM).end());
}
const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const delta = (content: unknown, more: object = {}): string =>
  event({ id: 'x', choices: [{ index: 0, delta: { content }, finish_reason: null, ...more }], usage: null });
const stop = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const DONE = 'data: [DONE]\n\n';

describe('a JSON answer', () => {
  it.each([
    ['a chat', '{"choices":[{"message":{"content":"x"}}]}', 'ok'],
    [
      'a chat with null content',
      '{"choices":[{"message":{"content":null},"finish_reason":"length"}],"error":null}',
      'ok',
    ],
    ['a chat after a byte order mark', '\ufeff{"choices":[]}', 'ok'],
    ['nothing', '', 'server_error empty'],
    ['a page', '<html><title>x</title></html>', 'server_error unreadable'],
    ['cut JSON', '{"choices":[{"message":{"content":"x', 'server_error unreadable'],
    ['a number', '7', 'server_error unreadable'],
    ['null', 'null', 'server_error unreadable'],
    ['a list', '[{"choices":[]}]', 'server_error unreadable'],
    ['an object without choices', '{"id":"x","created":1}', 'server_error unreadable'],
    ['choices of another type', '{"choices":{"0":1}}', 'server_error unreadable'],
    ['an error object', '{"error":{"message":"m","code":500}}', 'server_error error_in_answer'],
    ['an error text', '{"error":"m","error_type":"x"}', 'server_error error_in_answer'],
    ['an error next to choices', '{"error":{"message":"m"},"choices":[]}', 'server_error error_in_answer'],
    ['a flat error', '{"object":"error","message":"m"}', 'server_error error_in_answer'],
    ['a detail', '{"detail":[{"msg":"m","loc":["body","x"]}]}', 'server_error error_in_answer'],
    ['a list of errors', '{"errors":["m"]}', 'server_error error_in_answer'],
    ['an error at the root of a list', '[{"error":{"code":429,"message":"m"}}]', 'server_error error_in_answer'],
    ['an error in a choice', '{"choices":[{"error":{"message":"m"},"message":{}}]}', 'server_error error_in_answer'],
    ['an aborted choice', '{"choices":[{"message":{},"finish_reason":"abort"}]}', 'server_error error_in_answer'],
    ['a failed choice', '{"choices":[{"message":{},"finish_reason":"error"}]}', 'server_error error_in_answer'],
  ])('that is %s', (_what, text, expected) => {
    expect(whole(text)).toBe(expected);
    // The same, too long to be kept whole.
    if (!text.startsWith('{"') || expected.endsWith('unreadable')) return;
    const long = text.replace('{"', `{"pad":"${'é\\"'.repeat(30_000)}","`);
    for (const size of [1_001, 65_536]) expect(brief(judgeOf(long, 200, CHAT, size).end())).toBe(expected);
  });

  it.each([
    ['/v1/embeddings', '{"data":[{"embedding":[1]}]}', 'ok'],
    ['/v1/embeddings', '{"choices":[]}', 'server_error unreadable'],
    ['/v1/rerank', '[{"index":0,"score":1}]', 'ok'],
    ['/v1/rerank', '3', 'server_error unreadable'],
    ['/v1/completions', '{"choices":[{"text":""}]}', 'ok'],
  ])('of %s', (path, text, expected) => expect(whole(text, 200, path)).toBe(expected));

  it('of any length is judged and metered with little memory', () => {
    const vector = `[${Array(1_536).fill(-0.0123456).join()}]`;
    const data = Array(500).fill(`{"index":0,"embedding":${vector}}`).join();
    const text = `{"data":[${data}],"usage":{"prompt_tokens":11,"total_tokens":11}}`;
    const judge = judgeOf(text, 200, '/v1/embeddings', 65_536);
    expect(judge.heldBytes).toBeLessThan(64 * 1024);
    expect(brief(judge.end())).toBe('ok');
    expect(judge.read().tokensIn).toBe(11);
    expect(brief(judgeOf(text.slice(0, -2), 200, '/v1/embeddings', 65_536).end())).toBe('server_error unreadable');
  });

  it('that breaks off is incomplete', () => {
    expect(brief(judgeOf('{"choices":[]').cut())).toBe('server_error incomplete');
  });
});

describe('a stream', () => {
  it.each([
    ['with its terminator', delta('a') + stop + DONE, 'ok'],
    ['without a terminator, after its reason to stop', delta('a') + stop, 'ok'],
    ['without a reason to stop, but with its terminator', delta('a') + DONE, 'ok'],
    ['with null content', delta(null) + stop, 'ok'],
    ['with line ends of another kind', (delta('a') + stop).replaceAll('\n', '\r\n'), 'ok'],
    ['whose last event has no blank line', (delta('a') + stop).trimEnd(), 'ok'],
    ['with usage after the reason', delta('a') + stop + event({ choices: [], usage: {} }), 'ok'],
    ['with data after its terminator', delta('a') + stop + DONE + 'data: x\n\n', 'ok'],
    ['without bytes', '', 'server_error empty'],
    ['of comments', ': a\n\n: b\n\n', 'server_error incomplete'],
    ['of its terminator only', DONE, 'server_error empty'],
    ['that ends early', delta('a'), 'server_error incomplete'],
    ['with an empty reason', delta('a', { finish_reason: '' }), 'server_error incomplete'],
    ['with one of two choices finished', delta('a', { index: 1 }) + delta('a') + stop, 'server_error incomplete'],
    ['with an error', delta('a') + event({ error: { message: 'm' } }) + DONE, 'server_error error_in_answer'],
    ['with a named error', `${delta('a')}event: error\ndata: m\n\n${DONE}`, 'server_error error_in_answer'],
    ['with a field error', `${delta('a')}error: {"code":500,"message":"m"}\n\n${DONE}`, 'server_error error_in_answer'],
    ['with an error in a list', delta('a') + event([{ error: 'm' }]) + DONE, 'server_error error_in_answer'],
    ['with a failed choice', delta('a', { finish_reason: 'error' }) + DONE, 'server_error error_in_answer'],
    ['with an aborted choice', delta('a', { finish_reason: 'abort' }) + DONE, 'server_error error_in_answer'],
    ['with cut JSON', `${delta('a')}data: {"choices":[{"del\n\n${stop}${DONE}`, 'server_error unreadable'],
    [
      'with cut JSON like the events before',
      `${delta('a')}${delta('b').replace('"},', '",')}${DONE}`,
      'server_error unreadable',
    ],
    ['with text', `data: hello\n\n${DONE}`, 'server_error unreadable'],
    ['with a number', `data: 7\n\n${stop}${DONE}`, 'server_error unreadable'],
    ['with a page', '<html></html>', 'server_error incomplete'],
  ])('%s', (_what, text, expected) => {
    for (const size of [1, 50, 100_000]) expect([size, streamed(text, size)]).toEqual([size, expected]);
  });

  it('with a very long event is judged with little memory', () => {
    const long = delta('x"\\\n'.repeat(50_000));
    const judge = judgeOf(long.slice(0, -10), 200, CHAT, 5_000, STREAM);
    expect(judge.heldBytes).toBeLessThan(32 * 1024);
    expect(streamed(long + stop, 5_000)).toBe('ok');
    expect(streamed(delta('x'.repeat(50_000), { finish_reason: 'error' }), 5_000)).toBe('server_error error_in_answer');
    expect(streamed(`data: ${'x'.repeat(50_000)}\n\n`, 5_000)).toBe('server_error unreadable');
  });

  it('that breaks off is incomplete, unless its terminator has arrived', () => {
    expect(brief(judgeOf(delta('a') + stop, 200, CHAT, 100, STREAM).cut())).toBe('server_error incomplete');
    expect(brief(judgeOf(delta('a') + stop + DONE, 200, CHAT, 100, STREAM).cut())).toBe('ok');
  });

  it('has its tokens counted and timed, wherever the network cuts it', () => {
    const text = `${event({ choices: [{ delta: { role: 'assistant', content: '' } }] })}${delta('a')}${delta('é')}: x\n\n${delta('\n')}${event({ choices: [{ delta: { tool_calls: [{ function: { arguments: '{' } }] } }] })}${stop}${event({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 40 } })}${DONE}`;
    for (const size of [1, 7, 50, 100_000]) {
      const judge = judgeOf(text, 200, CHAT, size, STREAM);
      expect(brief(judge.end())).toBe('ok');
      expect(judge.read()).toMatchObject({ tokensIn: 7, tokensOut: 40 });
    }
    const counted = judgeOf(text.replaceAll('usage', 'other'), 200, CHAT, 7, STREAM);
    expect(counted.read()).toMatchObject({ tokensIn: 0, tokensOut: 4 });
    expect(counted.read().firstTokenAt).not.toBeNull();
  });

  it('reports its first token once', () => {
    const judge = new AnswerJudge(CHAT, 200, STREAM);
    const brings = [event({ choices: [{ delta: { role: 'assistant' } }] }), delta('a') + delta('b'), delta('c'), stop];
    expect(brings.map((text, at) => judge.push(Buffer.from(text), at))).toEqual([false, true, false, false]);
  });
});

describe('a status', () => {
  it.each([
    [500, '{"error":{"message":"m"}}', 'server_error status', true],
    [503, '<html></html>', 'server_error status', false],
    [503, '{}', 'server_error status', false],
    [302, '', 'server_error redirect', false],
    [401, '{"error":{"message":"no key"}}', 'server_error credential', true],
    [402, 'pay', 'server_error credential', false],
    [403, '{"detail":"no"}', 'server_error credential', true],
    [403, '{"error":{"code":403,"message":"Your input was flagged"}}', 'client_error', true],
    [403, '{"error":{"code":"content_policy_violation","message":"x"}}', 'client_error', true],
    [
      404,
      '{"error":{"message":"The model `x` does not exist.","type":"NotFoundError","param":"model","code":404}}',
      'server_error model_missing',
      true,
    ],
    [404, '{"message":"The model \'x\' does not exist.","type":"not_found_error"}', 'server_error model_missing', true],
    [404, 'model "x" not found, try pulling it first', 'server_error model_missing', false],
    [404, '{"detail":"Not Found"}', 'server_error status', true],
    [404, '<html><title>404</title></html>', 'server_error status', false],
    [
      400,
      '{"error":{"code":400,"message":"model \'x\' not found","type":"invalid_request_error"}}',
      'server_error model_missing',
      true,
    ],
    [400, '{"error":{"code":"model_not_found","message":"x"}}', 'server_error model_missing', true],
    [400, '{"error":{"message":"messages is empty"}}', 'client_error', true],
    [400, '{"error":{"message":"This model\'s maximum context length is 4096 tokens."}}', 'client_error', true],
    [400, '{"error":{"message":"The model does not support image input"}}', 'client_error', true],
    [408, '', 'overloaded', false],
    [425, '', 'overloaded', false],
    [429, '{"error":{"message":"m"}}', 'overloaded', true],
    [422, '{"detail":[{"loc":["body","n"],"msg":"m"}]}', 'client_error', true],
    [413, '', 'client_error', false],
  ])('%i with %s is %s', (status, text, expected, isEngineError) => {
    const judgement = judgeOf(text, status).end();
    expect([brief(judgement), judgement.isEngineError]).toEqual([expected, isEngineError]);
  });

  it.each([
    [500, {}, 'server_error status'],
    [307, {}, 'server_error redirect'],
    [401, {}, 'server_error credential'],
    [429, {}, 'overloaded'],
    [204, {}, 'server_error empty'],
    [200, { 'content-length': '0' }, 'server_error empty'],
    [200, {}, undefined],
    [403, {}, undefined],
    [404, {}, undefined],
    [400, {}, undefined],
  ])('%i alone decides that, or nothing', (status, headers, expected) => {
    const judgement = judgeHead(status, headers);
    expect(judgement ? brief(judgement) : undefined).toBe(expected);
  });
});
