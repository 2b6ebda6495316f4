import { afterEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import type { SimulatorOptions } from './flags.js';
import { startSimulator, type Simulator } from './simulator.js';

/** Node's timers fire early by up to this much, over several consecutive timers. */
const EARLY_MS = 6;

const running: Simulator[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((simulator) => simulator.stop()));
});

async function client(given: Partial<SimulatorOptions> = {}, apiKey = 'any'): Promise<OpenAI> {
  const simulator = await startSimulator({ port: 0, model: 'vendor/tiny', ...given });
  running.push(simulator);
  return new OpenAI({ baseURL: `${simulator.url}/v1`, apiKey, maxRetries: 0 });
}

const messages = [{ role: 'user' as const, content: 'What are you?' }];

describe('chat completions', () => {
  it('answers with the model id, usage and finish_reason stop', async () => {
    const completion = await (await client({ tokens: 5 })).chat.completions.create({ model: 'vendor/tiny', messages });
    expect(completion).toMatchObject({ object: 'chat.completion', model: 'vendor/tiny' });
    expect(completion.choices).toHaveLength(1);
    expect(completion.choices[0]).toMatchObject({ index: 0, finish_reason: 'stop', message: { role: 'assistant' } });
    expect(completion.choices[0]!.message.content).toMatch(/^vendor\/tiny( \S+){4}$/);
    expect(completion.usage).toEqual({ prompt_tokens: 4, completion_tokens: 5, total_tokens: 9 });
  });

  it.each([{ max_tokens: 3 }, { max_completion_tokens: 3 }, { max_completion_tokens: 3, max_tokens: 9 }])(
    'applies %j',
    async (limit) => {
      const completion = await (await client()).chat.completions.create({ model: 'vendor/tiny', messages, ...limit });
      expect(completion.choices[0]!.finish_reason).toBe('length');
      expect(completion.usage!.completion_tokens).toBe(3);
    },
  );

  it('streams the same text, the role first, the reason last', async () => {
    const openai = await client({ tokens: 4 });
    const whole = await openai.chat.completions.create({ model: 'vendor/tiny', messages });
    const chunks = [];
    for await (const chunk of await openai.chat.completions.create({ model: 'vendor/tiny', messages, stream: true }))
      chunks.push(chunk);

    expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1);
    expect(chunks.every((chunk) => chunk.object === 'chat.completion.chunk' && !('usage' in chunk))).toBe(true);
    expect(chunks[0]!.choices[0]!.delta).toMatchObject({ role: 'assistant', content: '' });
    expect(chunks.map((chunk) => chunk.choices[0]!.delta.content ?? '').join('')).toBe(
      whole.choices[0]!.message.content,
    );
    expect(chunks.map((chunk) => chunk.choices[0]!.finish_reason)).toEqual([null, null, null, null, null, 'stop']);
  });

  it('streams usage last if requested', async () => {
    const openai = await client();
    const chunks = [];
    const asked = {
      model: 'vendor/tiny',
      messages,
      max_tokens: 2,
      stream: true as const,
      stream_options: { include_usage: true },
    };
    for await (const chunk of await openai.chat.completions.create(asked)) chunks.push(chunk);

    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 },
    });
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
    expect(chunks.at(-2)!.choices[0]!.finish_reason).toBe('length');
  });

  it('works with the streaming runner, which checks the chunks it accumulates', async () => {
    const openai = await client({ tokens: 6, itlMs: 1 });
    const runner = openai.chat.completions.stream({ model: 'vendor/tiny', messages, n: 2 });
    const completion = await runner.finalChatCompletion();
    expect(completion.choices.map((choice) => choice.index)).toEqual([0, 1]);
    expect(completion.choices.every((choice) => choice.message.content?.startsWith('vendor/tiny '))).toBe(true);
  });

  it('takes the configured time: first token, then one after another', async () => {
    const openai = await client({ tokens: 5, ttftMs: 60, itlMs: 10 });
    const begin = performance.now();
    const stream = await openai.chat.completions.create({ model: 'vendor/tiny', messages, stream: true });
    const arrivals: number[] = [];
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) arrivals.push(performance.now() - begin);
    expect(arrivals[0]).toBeGreaterThanOrEqual(60 - EARLY_MS);
    expect(arrivals.at(-1)).toBeGreaterThanOrEqual(100 - EARLY_MS);

    const again = performance.now();
    await openai.chat.completions.create({ model: 'vendor/tiny', messages });
    expect(performance.now() - again).toBeGreaterThanOrEqual(100 - EARLY_MS);
  });
});

describe('text completions', () => {
  it('answers each prompt', async () => {
    const completion = await (
      await client({ tokens: 2 })
    ).completions.create({ model: 'vendor/tiny', prompt: ['one', 'two'] });
    expect(completion.object).toBe('text_completion');
    expect(completion.choices.map((choice) => [choice.index, choice.text, choice.finish_reason])).toEqual([
      [0, 'vendor/tiny is', 'stop'],
      [1, 'vendor/tiny is', 'stop'],
    ]);
    expect(completion.usage).toEqual({ prompt_tokens: 2, completion_tokens: 4, total_tokens: 6 });
  });

  it('streams', async () => {
    const openai = await client();
    const texts: string[] = [];
    for await (const chunk of await openai.completions.create({
      model: 'vendor/tiny',
      prompt: 'one',
      max_tokens: 2,
      stream: true,
    })) {
      texts.push(chunk.choices[0]!.text);
    }
    expect(texts).toEqual(['vendor/tiny', ' is', '']);
  });
});

describe('embeddings', () => {
  it('gives the same vectors as base64, which the client requests by default, and as floats', async () => {
    const openai = await client();
    const asked = { model: 'vendor/tiny', input: ['a cat', 'a dog'] };
    const encoded = await openai.embeddings.create(asked);
    const floats = await openai.embeddings.create({ ...asked, encoding_format: 'float' });
    expect(encoded.data).toHaveLength(2);
    encoded.data.forEach((item, index) => {
      expect(item).toMatchObject({ object: 'embedding', index });
      expect(item.embedding).toHaveLength(64);
      expect(Math.hypot(...item.embedding)).toBeCloseTo(1, 5);
      expect(item.embedding).toEqual(floats.data[index]!.embedding);
    });
    expect(encoded.data[0]!.embedding).not.toEqual(encoded.data[1]!.embedding);
    expect(encoded.usage).toEqual({ prompt_tokens: 4, total_tokens: 4 });
  });

  it('accepts tokens and dimensions', async () => {
    const openai = await client();
    const embeddings = await openai.embeddings.create({ model: 'vendor/tiny', input: [[1, 2, 3], [4]], dimensions: 8 });
    expect(embeddings.data.map((item) => item.embedding.length)).toEqual([8, 8]);
    expect(embeddings.usage.prompt_tokens).toBe(4);
  });
});

describe('models', () => {
  it('lists and retrieves the one model, although its id has a slash', async () => {
    const openai = await client();
    const listed = [];
    for await (const model of openai.models.list()) listed.push(model);
    expect(listed).toEqual([
      { id: 'vendor/tiny', object: 'model', created: expect.any(Number), owned_by: 'inference-sim' },
    ]);
    expect(await openai.models.retrieve('vendor/tiny')).toEqual(listed[0]);
    await expect(openai.models.retrieve('other')).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
  });
});

describe('errors, as the client raises them', () => {
  it('refuses a wrong key', async () => {
    const openai = await client({ apiKey: 'right' }, 'wrong');
    const refused = openai.chat.completions.create({ model: 'vendor/tiny', messages });
    await expect(refused).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    await expect(refused).rejects.toMatchObject({
      status: 401,
      code: 'invalid_api_key',
      type: 'invalid_request_error',
    });
    await expect(openai.models.list()).rejects.toMatchObject({ status: 401 });
    const { url } = running.at(-1)!;
    const admitted = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'right', maxRetries: 0 });
    await expect(admitted.models.list()).resolves.toBeDefined();
  });

  it('refuses another model', async () => {
    const refused = (await client()).chat.completions.create({ model: 'other', messages });
    await expect(refused).rejects.toMatchObject({ status: 404, param: 'model', code: 'model_not_found' });
  });

  it('fails the requested share, in the same positions for the same seed', async () => {
    const outcomes = async (seed: number): Promise<number[]> => {
      const openai = await client({ errorRate: 0.4, seed });
      const statuses: number[] = [];
      for (let index = 0; index < 60; index += 1) {
        const answer = openai.chat.completions.create({ model: 'vendor/tiny', messages, max_tokens: 1 });
        statuses.push(
          await answer.then(
            () => 200,
            (error: InstanceType<typeof OpenAI.APIError>) => error.status as number,
          ),
        );
      }
      return statuses;
    };
    const first = await outcomes(7);
    expect(await outcomes(7)).toEqual(first);
    expect(await outcomes(8)).not.toEqual(first);
    expect(new Set(first)).toEqual(new Set([200, 500]));
    const failures = first.filter((status) => status === 500).length;
    expect(failures).toBeGreaterThan(10);
    expect(failures).toBeLessThan(40);
  });

  it('never fails at rate 0 and always at rate 1', async () => {
    const failing = await client({ errorRate: 1 });
    await expect(failing.completions.create({ model: 'vendor/tiny', prompt: 'x' })).rejects.toMatchObject({
      status: 500,
      type: 'server_error',
    });
    const sound = await client({ errorRate: 0 });
    for (let index = 0; index < 20; index += 1)
      await sound.completions.create({ model: 'vendor/tiny', prompt: 'x', max_tokens: 1 });
  });
});
