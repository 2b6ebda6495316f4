import { describe, expect, it } from '@jest/globals';
import { chatBody, conversationCurl, settingFaultsOf } from './chat-request.js';
import { refusalOf } from '../../api/chat-failure.js';

const empty = { model: 'chat', system: '', temperature: '', max_tokens: '', session_id: '' };

describe('the request', () => {
  it('leaves out empty fields', () => {
    expect(chatBody(empty, [{ role: 'user', content: 'hi' }])).toEqual({
      model: 'chat',
      messages: [{ role: 'user', content: 'hi' }],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('contains every setting under its name in the api', () => {
    const settings = { model: 'chat', system: 'Be short.', temperature: '0', max_tokens: '12', session_id: ' me ' };
    expect(chatBody(settings, [])).toMatchObject({
      messages: [{ role: 'system', content: 'Be short.' }],
      temperature: 0,
      max_tokens: 12,
      session_id: 'me',
    });
  });

  it('is refused before it is sent if a setting is invalid', () => {
    expect(settingFaultsOf(empty)).toEqual({});
    expect(settingFaultsOf({ ...empty, temperature: '2', max_tokens: '1' })).toEqual({});
    expect(Object.keys(settingFaultsOf({ ...empty, temperature: '2.1', max_tokens: '1.5' }))).toEqual([
      'temperature',
      'max_tokens',
    ]);
    expect(Object.keys(settingFaultsOf({ ...empty, temperature: 'warm', max_tokens: '0' }))).toEqual([
      'temperature',
      'max_tokens',
    ]);
  });

  it('stays one argument in a shell, whatever was typed', () => {
    expect(conversationCurl('http://gw:7080/', { a: "it's $(id)" })).toBe(
      [
        `curl -N http://gw:7080/v1/chat/completions`,
        `-H "authorization: Bearer $SLIPWAY_TOKEN"`,
        `-H 'content-type: application/json'`,
        `-d '{"a":"it'\\''s $(id)"}'`,
      ].join(' \\\n  '),
    );
    expect(conversationCurl('https://gw/v1', {})).toContain('https://gw/v1/chat/completions ');
  });
});

describe('a refusal', () => {
  it('names the remedy, and the time to retry', async () => {
    const response = new Response('{"error":{"message":"It restarts.","code":"deployment_restarting"}}', {
      status: 503,
      headers: { 'retry-after': '7' },
    });
    const error = await refusalOf(response);
    expect(error).toMatchObject({ code: 'deployment_restarting', status: 503, retryable: true });
    expect(error.remediation).toMatch(/being replaced.*Wait 7 s\.$/);
  });

  it.each([
    [400, /^Correct the request/],
    [500, /^The engine failed/],
  ])('names the remedy if an engine refuses with %d and a code of its own', async (status, says) => {
    const response = new Response('{"error":{"message":"No.","code":"constructor"}}', { status });
    expect((await refusalOf(response)).remediation).toMatch(says);
  });

  it('keeps the beginning of a long text, and the status if the answer is no JSON', async () => {
    let pulls = 0;
    const endless = new ReadableStream<Uint8Array>({ pull: (to) => (pulls++, to.enqueue(new Uint8Array(16_384))) });
    expect(await refusalOf(new Response(endless, { status: 502 }))).toMatchObject({ code: 'status_502', status: 502 });
    expect(pulls).toBeLessThan(10);
  });
});
