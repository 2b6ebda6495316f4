import { expect, it } from '@jest/globals';
import { JsonMeter, StreamMeter } from './meter.js';

const token = (text: string): string => `data: {"choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`;

it('counts tokens and gaps, wherever the network cuts the stream', () => {
  const stream = `data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\n${token('a')}${token('é')}: comment\n\n${token('c')}data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;
  const bytes = Buffer.from(stream);
  for (const size of [1, 7, 50, bytes.length]) {
    const meter = new StreamMeter();
    for (let at = 0; at < bytes.length; at += size) meter.onChunk(bytes.subarray(at, at + size), at);
    const { tokensOut, gaps, firstTokenAt } = meter.read();
    expect([tokensOut, gaps.reduce((sum, [, tokens]) => sum + tokens, 0)]).toEqual([3, 2]);
    expect(firstTokenAt).not.toBeNull();
  }
});

it('divides a gap among tokens that arrived together', () => {
  const meter = new StreamMeter();
  meter.onChunk(Buffer.from(token('a')), 100);
  meter.onChunk(Buffer.from(token('b')), 130);
  meter.onChunk(Buffer.from(token('c') + token('d')), 150);
  expect(meter.read()).toMatchObject({
    firstTokenAt: 100,
    gaps: [
      [30, 1],
      [10, 2],
    ],
    tokensOut: 4,
  });
});

it('counts tool calls and text completions, and prefers usage to its own count', () => {
  const meter = new StreamMeter();
  meter.onChunk(
    Buffer.from(
      'data: {"choices":[{"text": "x"}]}\r\n\r\ndata: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{"}}]}}]}\n\n',
    ),
    1,
  );
  expect(meter.read().tokensOut).toBe(2);
  meter.onChunk(
    Buffer.from('data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":40,"total_tokens":49}}\n\n'),
    2,
  );
  expect(meter.read()).toMatchObject({ tokensIn: 9, tokensOut: 40 });
});

it('finds usage at the end of a long answer, and none if the answer has none', () => {
  const meter = new JsonMeter();
  const answer = JSON.stringify({
    choices: [{ message: { content: 'about "usage" '.repeat(5_000) } }],
    usage: { prompt_tokens: 11, completion_tokens: 22 },
  });
  for (let at = 0; at < answer.length; at += 1_000) meter.onChunk(Buffer.from(answer.slice(at, at + 1_000)));
  expect(meter.read()).toMatchObject({ tokensIn: 11, tokensOut: 22, firstTokenAt: null });
  const none = new JsonMeter();
  none.onChunk(Buffer.from('{}'));
  expect(none.read()).toMatchObject({ tokensIn: 0, tokensOut: 0 });
});

it('measures from the first token instead of the first chunk, and gives it no gap to what came before', () => {
  const meter = new StreamMeter();
  meter.onChunk(Buffer.from('data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\n'), 10);
  expect(meter.read()).toMatchObject({ firstTokenAt: null, tokensOut: 0 });
  meter.onChunk(Buffer.from(token('a') + token('b') + token('c')), 40);
  meter.onChunk(Buffer.from('data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'), 90);
  expect(meter.read()).toEqual({ firstTokenAt: 40, tokensIn: 0, tokensOut: 3, gaps: [[0, 2]] });
});

it('counts no token in a line that is not an event', () => {
  const meter = new StreamMeter();
  meter.onChunk(Buffer.from(': "content":"x"\n\nevent: "content":"x"\n'), 1);
  expect(meter.read().tokensOut).toBe(0);
});

it('reads only the usage of an answer, whatever else in it counts tokens', () => {
  const meter = new JsonMeter();
  const counts = { prompt_tokens: 999, completion_tokens: 999 };
  const usage = { prompt_tokens: 1, completion_tokens: 2 };
  meter.onChunk(Buffer.from(JSON.stringify({ timings: counts, choices: [{ text: JSON.stringify(counts) }], usage })));
  expect(meter.read()).toMatchObject({ tokensIn: 1, tokensOut: 2 });
});

it('ignores a token count that no model can produce', () => {
  const usage = '"usage":{"prompt_tokens":99999999999999999999,"completion_tokens":123456789}';
  const whole = new JsonMeter();
  whole.onChunk(Buffer.from(`{"choices":[],${usage}}`));
  expect(whole.read()).toMatchObject({ tokensIn: 0, tokensOut: 0 });
  const stream = new StreamMeter();
  stream.onChunk(Buffer.from(`${token('a')}data: {"choices":[],${usage}}\n\n`), 1);
  expect(stream.read()).toMatchObject({ tokensIn: 0, tokensOut: 1 });
});
