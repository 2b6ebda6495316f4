import { connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { SimulatorOptions } from './flags.js';
import { startSimulator, type Simulator } from './simulator.js';

const running: Simulator[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((simulator) => simulator.stop()));
});

async function start(given: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  const simulator = await startSimulator({ port: 0, model: 'm', ...given });
  running.push(simulator);
  return simulator;
}

const post = (simulator: Simulator, path: string, body: string | ReadableStream): Promise<Response> =>
  fetch(`${simulator.url}${path}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
    duplex: 'half',
  } as RequestInit);

interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: string | null };
}

async function errorOf(response: Response): Promise<ErrorBody['error'] & { status: number }> {
  const body = (await response.json()) as ErrorBody;
  expect(Object.keys(body)).toEqual(['error']);
  expect(Object.keys(body.error).sort()).toEqual(['code', 'message', 'param', 'type']);
  return { ...body.error, status: response.status };
}

async function eventually(simulator: Simulator, line: string): Promise<void> {
  const deadline = Date.now() + 10_000;
  let text = '';
  while (!text.includes(line) && Date.now() < deadline) text = await (await fetch(`${simulator.url}/metrics`)).text();
  expect(text).toContain(line);
}

const hello = [{ role: 'user', content: 'hello' }];

describe('refusals', () => {
  it.each<[string, string, number, string | null, string]>([
    ['/v1/chat/completions', '{"model": "m"', 400, null, 'invalid_json'],
    ['/v1/chat/completions', '', 400, null, 'invalid_json'],
    ['/v1/chat/completions', '[]', 400, null, 'invalid_json'],
    ['/v1/chat/completions', JSON.stringify({ messages: hello }), 400, 'model', 'missing_required_parameter'],
    ['/v1/chat/completions', JSON.stringify({ model: 7, messages: hello }), 400, 'model', 'invalid_value'],
    ['/v1/chat/completions', JSON.stringify({ model: 'm' }), 400, 'messages', 'missing_required_parameter'],
    ['/v1/chat/completions', JSON.stringify({ model: 'm', messages: [] }), 400, 'messages', 'invalid_value'],
    [
      '/v1/chat/completions',
      JSON.stringify({ model: 'm', messages: [{ content: 'x' }] }),
      400,
      'messages[0].role',
      'missing_required_parameter',
    ],
    [
      '/v1/chat/completions',
      JSON.stringify({ model: 'm', messages: hello, max_tokens: 0 }),
      400,
      'max_tokens',
      'invalid_value',
    ],
    [
      '/v1/chat/completions',
      JSON.stringify({ model: 'm', messages: hello, stream: 'yes' }),
      400,
      'stream',
      'invalid_value',
    ],
    [
      '/v1/chat/completions',
      JSON.stringify({ model: 'm', messages: hello, stream_options: {} }),
      400,
      'stream_options',
      'invalid_value',
    ],
    ['/v1/completions', JSON.stringify({ model: 'm' }), 400, 'prompt', 'missing_required_parameter'],
    ['/v1/embeddings', JSON.stringify({ model: 'm' }), 400, 'input', 'missing_required_parameter'],
    ['/v1/embeddings', JSON.stringify({ model: 'm', input: [] }), 400, 'input', 'invalid_value'],
    [
      '/v1/embeddings',
      JSON.stringify({ model: 'm', input: 'x', encoding_format: 'hex' }),
      400,
      'encoding_format',
      'invalid_value',
    ],
    ['/v1/nothing', '{}', 404, null, 'unknown_url'],
    ['/v1/models', '{}', 405, null, 'method_not_supported'],
  ])('POST %s %s: %i', async (path, body, status, param, code) => {
    const error = await errorOf(await post(await start(), path, body));
    expect(error).toMatchObject({ status, param, code, type: 'invalid_request_error' });
  });

  it('answers 405 with Allow to a GET of an inference path', async () => {
    const response = await fetch(`${(await start()).url}/v1/embeddings`);
    expect(response.headers.get('allow')).toBe('POST');
    expect(await errorOf(response)).toMatchObject({ status: 405 });
  });

  it('answers 413 to a declared and to a chunked body over the limit, and continues to serve', async () => {
    const simulator = await start({ maxBodyBytes: 1_000 });
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(200_000) }] });
    expect(await errorOf(await post(simulator, '/v1/chat/completions', body))).toMatchObject({
      status: 413,
      code: 'request_too_large',
    });
    expect(await errorOf(await post(simulator, '/v1/chat/completions', new Blob([body]).stream()))).toMatchObject({
      status: 413,
    });
    const fits = await post(simulator, '/v1/chat/completions', JSON.stringify({ model: 'm', messages: hello }));
    expect(fits.status).toBe(200);
  });
});

describe('health', () => {
  it('answers 503 until started, and so does /v1', async () => {
    const simulator = await start({ startupMs: 400 });
    const early = await fetch(`${simulator.url}/health`);
    expect([early.status, await early.json()]).toEqual([503, { status: 'starting', model: 'm' }]);
    expect(await errorOf(await post(simulator, '/v1/completions', '{"model":"m","prompt":"x"}'))).toMatchObject({
      status: 503,
      code: 'model_loading',
    });

    const deadline = Date.now() + 10_000;
    let status = 503;
    while (status !== 200 && Date.now() < deadline) status = (await fetch(`${simulator.url}/health`)).status;
    expect(status).toBe(200);
    expect((await post(simulator, '/v1/completions', '{"model":"m","prompt":"x"}')).status).toBe(200);
  });

  it('answers 503 forever with neverReady', async () => {
    const simulator = await start({ neverReady: true });
    expect((await fetch(`${simulator.url}/health`)).status).toBe(503);
  });

  it('names the process in every answer', async () => {
    const simulator = await start();
    for (const path of ['/health', '/v1/models', '/nothing']) {
      expect((await fetch(`${simulator.url}${path}`)).headers.get('x-sim-pid')).toBe(String(process.pid));
    }
  });
});

describe('slowdown', () => {
  it.each([
    ['/v1/completions', { model: 'm', prompt: 'x' }, 3],
    ['/v1/completions', { model: 'm', prompt: 'x', stream: true }, 3],
    ['/v1/embeddings', { model: 'm', input: 'x' }, 1],
  ])(
    'slows down %s %j in proportion to the requests in flight at its arrival, and no more',
    async (path, body, tokens) => {
      const simulator = await start({ ttftMs: 200, itlMs: 50, tokens: 3, slowdown: 1.5 });
      const aloneMs = 200 + (tokens - 1) * 50;
      const took = async (): Promise<number> => {
        const startedAt = performance.now();
        await (await post(simulator, path, JSON.stringify(body))).text();
        return performance.now() - startedAt;
      };
      const others = [took(), took()];
      await eventually(simulator, 'inference_sim_requests_in_flight 2');
      expect(await took()).toBeGreaterThanOrEqual(4 * aloneMs);
      await Promise.all(others);
      // Requests that have ended and refused requests do not count. A busy machine is not busy all the time.
      expect((await post(simulator, path, '{"model":7}')).status).toBe(400);
      const alone: number[] = [];
      while (alone.length < 5 && !(Math.min(...alone) < 2.5 * aloneMs)) alone.push(await took());
      expect(Math.min(...alone)).toBeLessThan(2.5 * aloneMs);
    },
  );
});

describe('metrics', () => {
  it('count requests by endpoint and status, tokens, and clients that left', async () => {
    const simulator = await start({ tokens: 3 });
    await (await post(simulator, '/v1/completions', '{"model":"m","prompt":"x","stream":true}')).text();
    await (await post(simulator, '/v1/completions', '{"model":"m"}')).text();
    const lines = (await (await fetch(`${simulator.url}/metrics`)).text()).split('\n');
    expect(lines).toContain('inference_sim_requests_total{endpoint="completions",status="200"} 1');
    expect(lines).toContain('inference_sim_requests_total{endpoint="completions",status="400"} 1');
    expect(lines).toContain('inference_sim_completion_tokens_total 3');
    expect(lines).toContain('inference_sim_time_to_first_token_seconds_count 1');
    expect(lines).toContain('inference_sim_request_duration_seconds_bucket{le="+Inf"} 2');
    expect(lines).toContain('inference_sim_requests_in_flight 0');
    expect(lines).toContain('inference_sim_ready 1');
  });

  it('stop generating for a client that left', async () => {
    const simulator = await start({ tokens: 100_000, itlMs: 5 });
    const abort = new AbortController();
    const stream = await fetch(`${simulator.url}/v1/completions`, {
      method: 'POST',
      body: '{"model":"m","prompt":"x","stream":true}',
      signal: abort.signal,
    });
    await stream.body!.getReader().read();
    abort.abort();
    await eventually(simulator, 'inference_sim_requests_aborted_total 1');
    await eventually(simulator, 'inference_sim_requests_in_flight 0');
  });
});

it('waits for a slow reader instead of keeping a whole answer in memory, and delivers all of it', async () => {
  const simulator = await start({ tokens: 20_000, itlMs: 0.01 });
  const body = '{"model":"m","prompt":"x","stream":true}';
  const socket = connect(simulator.port, '127.0.0.1');
  socket.write(
    `POST /v1/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  let received = '';
  for await (const piece of socket) received += String(piece);
  expect(received.match(/"object":"text_completion"/g)).toHaveLength(20_001);
  expect(received).toContain('data: [DONE]');
});
