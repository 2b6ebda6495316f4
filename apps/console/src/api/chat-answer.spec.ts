import { describe, expect, it } from '@jest/globals';
import { numbersOf } from './answer-numbers.js';
import { answersOf, type ChatAnswer } from './chat-answer.js';

const encoder = new TextEncoder();

function streamOf(...parts: string[]): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(encoder.encode(part));
      controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream', 'x-request-id': 'req-1' } });
}

const piece = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ delta, finish_reason: finish }], usage: null })}\n\n`;

async function lastOf(response: Response): Promise<ChatAnswer> {
  let clock = 1000;
  let last: ChatAnswer | undefined;
  for await (const answer of answersOf(response, { now: () => (clock += 100) })) last = answer;
  return last!;
}

describe('the answer of a stream', () => {
  it('is assembled from its pieces, wherever they are cut', async () => {
    const whole =
      piece({ role: 'assistant', content: '' }) +
      piece({ content: 'Hé' }) +
      piece({ content: 'llo' }) +
      piece({}, 'stop') +
      'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":11}}\n\ndata: [DONE]\n\n';
    const bytes = encoder.encode(whole);
    for (const size of [1, 7, bytes.length]) {
      const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.slice(index * size, (index + 1) * size),
      );
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          controller.close();
        },
      });
      const answer = await lastOf(new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
      expect(answer).toEqual({
        text: 'Héllo',
        reasoning: '',
        pieces: 2,
        firstAt: 1200,
        lastAt: 1300,
        finish_reason: 'stop',
        usage: { prompt_tokens: 3, completion_tokens: 11 },
        isWhole: true,
      });
      expect(numbersOf(answer, 1050)).toEqual({ ttft: 150, tokensPerSecond: 100, isEstimate: false });
    }
  });

  it('counts from the first reasoning text on, and by pieces if the engine counts no tokens', async () => {
    const answer = await lastOf(
      streamOf(
        piece({ reasoning_content: 'hm' }),
        piece({ content: 'a' }),
        piece({ content: 'b' }),
        'data: [DONE]\n\n',
      ),
    );
    expect(answer).toMatchObject({ reasoning: 'hm', text: 'ab', firstAt: 1100, lastAt: 1300 });
    expect(numbersOf(answer, 1000)).toEqual({ ttft: 100, tokensPerSecond: 10, isEstimate: true });
  });

  it('fails with the error in the stream and its remedy', async () => {
    const refused = streamOf(
      piece({ content: 'a' }),
      'data: {"error":{"message":"The server of the model failed.","code":"upstream_error"}}\n\n',
    );
    await expect(lastOf(refused)).rejects.toMatchObject({
      code: 'upstream_error',
      message: 'The server of the model failed.',
      remediation: expect.stringContaining('logs'),
      request_id: 'req-1',
    });
  });

  it('is not complete without its end', async () => {
    await expect(lastOf(streamOf(piece({ content: 'a' })))).rejects.toMatchObject({ code: 'answer_cut' });
  });

  it('has a maximum length', async () => {
    const long = piece({ content: 'x'.repeat(60_000) });
    await expect(lastOf(streamOf(long, long, long, long, 'data: [DONE]\n\n'))).rejects.toMatchObject({
      code: 'answer_too_long',
    });
  });

  it('refuses an answer that is no stream', async () => {
    await expect(lastOf(streamOf('data: [1]\n\n'))).rejects.toMatchObject({ code: 'unexpected_answer' });
    await expect(lastOf(streamOf('data: {"choices\n\n'))).rejects.toMatchObject({ code: 'unexpected_answer' });
    await expect(lastOf(new Response('{}'))).rejects.toMatchObject({ code: 'unexpected_answer' });
  });
});
