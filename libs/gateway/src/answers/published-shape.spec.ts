import { expect, it } from '@jest/globals';
import { chatCompletion, chatCompletionChunk, embeddingList, textCompletion } from './published-shape.js';

const SENTINEL = 'zz-supplier-zz';
const disguise = { slug: 'acme/chat', requestId: 'req-1' };
const ID = '[0-9a-f]{24}';

const call = { index: 0, id: SENTINEL, type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
const oneLogprob = { token: 't', logprob: -0.5, bytes: [116] };
const logprobs = { content: [{ ...oneLogprob, top_logprobs: [oneLogprob] }], refusal: null };
const message = {
  role: 'assistant',
  content: 'text',
  refusal: null,
  reasoning_content: 'because',
  reasoning: 'so',
  tool_calls: [call],
  function_call: { name: 'f', arguments: '{}' },
};
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const envelope = { id: SENTINEL, object: SENTINEL, created: 5, model: SENTINEL };
const shownMessage = { ...message, tool_calls: [{ ...call, id: expect.stringMatching(new RegExp(`^call_${ID}$`)) }] };

/** A whole answer of each kind, as a supplier sends it, and the answer that a client gets. */
const cases = [
  {
    name: 'chat completion',
    shape: chatCompletion,
    from: { ...envelope, choices: [{ index: 1, message, logprobs, finish_reason: 'length' }], usage },
    shown: {
      id: expect.stringMatching(new RegExp(`^chatcmpl-${ID}$`)),
      object: 'chat.completion',
      created: 5,
      model: 'acme/chat',
      choices: [{ index: 1, message: shownMessage, logprobs, finish_reason: 'length' }],
      usage,
    },
  },
  {
    name: 'chunk of a chat completion',
    shape: chatCompletionChunk,
    from: { ...envelope, choices: [{ index: 1, delta: message, logprobs, finish_reason: 'tool_calls' }], usage: null },
    shown: {
      id: expect.stringMatching(new RegExp(`^chatcmpl-${ID}$`)),
      object: 'chat.completion.chunk',
      created: 5,
      model: 'acme/chat',
      choices: [{ index: 1, delta: shownMessage, logprobs, finish_reason: 'tool_calls' }],
      usage: null,
    },
  },
  {
    name: 'text completion',
    shape: textCompletion,
    from: {
      ...envelope,
      choices: [
        {
          index: 1,
          text: 'text',
          logprobs: { tokens: ['t'], token_logprobs: [-0.5], text_offset: [0] },
          finish_reason: 'stop',
        },
      ],
      usage,
    },
    shown: {
      id: expect.stringMatching(new RegExp(`^cmpl-${ID}$`)),
      object: 'text_completion',
      created: 5,
      model: 'acme/chat',
      choices: [
        {
          index: 1,
          text: 'text',
          logprobs: { tokens: ['t'], token_logprobs: [-0.5], text_offset: [0] },
          finish_reason: 'stop',
        },
      ],
      usage,
    },
  },
  {
    name: 'list of embeddings',
    shape: embeddingList,
    from: {
      ...envelope,
      data: [
        { object: SENTINEL, index: 1, embedding: [0.5, -1] },
        { object: SENTINEL, index: 2, embedding: 'AAAA' },
      ],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    },
    shown: {
      object: 'list',
      data: [
        { object: 'embedding', index: 1, embedding: [0.5, -1] },
        { object: 'embedding', index: 2, embedding: 'AAAA' },
      ],
      model: 'acme/chat',
      usage: { prompt_tokens: 1, total_tokens: 1 },
    },
  },
];

/** Returns the same value with a field of the supplier's own in every object, at every depth. */
function marked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(marked);
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.entries(value).map(([name, one]) => [name, marked(one)]);
  return { ...Object.fromEntries(inner), [SENTINEL]: SENTINEL, provider: { name: SENTINEL } };
}

/** Returns the same value with each number, and each text except content, replaced by an object of the supplier. */
function bent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bent);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, bent(one)]));
  return { [SENTINEL]: value };
}

it.each(cases)('shows every part of a $name that clients read, and the slug as its model', ({ shape, from, shown }) => {
  expect(shape(from, disguise)).toEqual(shown);
});

it.each(cases)('shows nothing that a supplier adds anywhere to a $name', ({ shape, from, shown }) => {
  const answer = shape(marked(from) as Record<string, unknown>, disguise);
  expect(answer).toEqual(shown);
  expect(JSON.stringify(answer)).not.toContain(SENTINEL);
});

it.each(cases)('shows no object in place of a text or a number of a $name', ({ shape, from }) => {
  expect(JSON.stringify(shape(bent(from) as Record<string, unknown>, disguise))).not.toContain(SENTINEL);
  for (const nothing of [{}, { choices: SENTINEL, data: SENTINEL, usage: SENTINEL }, { choices: [SENTINEL] }])
    expect(JSON.stringify(shape(nothing as Record<string, unknown>, disguise))).not.toContain(SENTINEL);
});

it('shows only reasons, roles and kinds that clients know', () => {
  const answer = chatCompletion(
    {
      choices: [
        { message: { role: SENTINEL, tool_calls: [{ id: SENTINEL, type: SENTINEL }] }, finish_reason: SENTINEL },
      ],
    },
    disguise,
  );
  expect(answer['choices']).toEqual([
    {
      index: 0,
      message: { role: 'assistant', tool_calls: [{ id: expect.stringMatching(/^call_/), type: 'function' }] },
      logprobs: null,
      finish_reason: 'stop',
    },
  ]);
});

it('derives ids from the request, so that equal ids of an answer stay equal and ids of two requests differ', () => {
  const ids = (requestId: string): string[] => {
    const answer = chatCompletion(
      { choices: [{ message: { tool_calls: [{ id: 'one' }, { id: 'two' }, { id: 'one' }] } }] },
      { ...disguise, requestId },
    );
    const [choice] = answer['choices'] as { message: { tool_calls: { id: string }[] } }[];
    return [answer['id'] as string, ...(choice?.message.tool_calls.map(({ id }) => id) ?? [])];
  };
  const [first, second] = [ids('req-1'), ids('req-2')];
  expect(first[1]).toBe(first[3]);
  expect(new Set(first).size).toBe(3);
  expect(first.filter((id) => second.includes(id))).toEqual([]);
});

it('leaves absent members absent, because a delta without content differs from one with null content', () => {
  const delta = (value: object): unknown =>
    (chatCompletionChunk({ choices: [{ delta: value }] }, disguise)['choices'] as { delta: unknown }[])[0]?.delta;
  expect(delta({})).toEqual({});
  expect(delta({ content: null })).toEqual({ content: null });
  expect('usage' in chatCompletionChunk({ choices: [] }, disguise)).toBe(false);
});
