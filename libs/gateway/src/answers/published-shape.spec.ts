import { describe, expect, it } from '@jest/globals';
import { JsonFilter } from './json-filter.js';
import {
  chatCompletion,
  chatCompletionChunk,
  disguiseAs,
  embeddingList,
  textCompletion,
  type AnswerShape,
  type Disguise,
} from './published-shape.js';

const SENTINEL = 'zz-supplier-zz';
const disguise = disguiseAs('acme/chat');
type Shape = (disguise: Disguise) => AnswerShape;
type JsonObject = Record<string, unknown>;

/** Returns the answer that a client gets, as text, if the supplier's arrives in pieces of this size. */
function filtered(shape: Shape, text: string, size = 1_000_000, as = disguise): string {
  const { form, before } = shape(as);
  const filter = new JsonFilter(form, before, 4_000_000);
  const bytes = Buffer.from(text);
  let out = '';
  for (let at = 0; at < bytes.length; at += size) out += filter.push(bytes.subarray(at, at + size));
  return Buffer.from(out + filter.end(), 'latin1').toString('utf8');
}
const shown = (shape: Shape, value: unknown, as = disguise): JsonObject =>
  JSON.parse(filtered(shape, JSON.stringify(value), undefined, as)) as JsonObject;

const call = { index: 0, id: SENTINEL, type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
const probability = { token: 't"é', logprob: -0.5, bytes: [116] };
const logprobs = { content: [{ ...probability, top_logprobs: [probability] }], refusal: null };
const textLogprobs = {
  tokens: ['t'],
  token_logprobs: [-0.5, null],
  top_logprobs: [{ t: -0.5, 'é"': -1.5 }, null],
  text_offset: [0],
};
const message = {
  role: 'assistant',
  content: 'text é 😀 \n',
  refusal: null,
  reasoning_content: 'because',
  reasoning: 'so',
  tool_calls: [call],
  function_call: { name: 'f', arguments: '{}' },
  annotations: [{ type: 'url_citation', url_citation: { url: 'u', title: 't', start_index: 0, end_index: 1 } }],
};
const usage = {
  prompt_tokens: 1,
  completion_tokens: 2,
  total_tokens: 3,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: null },
  completion_tokens_details: { reasoning_tokens: 1, accepted_prediction_tokens: 0 },
};
const envelope = { id: SENTINEL, object: SENTINEL, created: 5, model: SENTINEL };
const FINGERPRINT = expect.stringMatching(/^fp_[0-9a-f]{10}$/);
const common = { created: 5, model: 'acme/chat', system_fingerprint: FINGERPRINT, service_tier: 'default' };
const member = { system_fingerprint: `fp_${SENTINEL}`, service_tier: 'default' };
const shownMessage = { ...message, tool_calls: [{ ...call, id: expect.stringMatching(/^[A-Za-z0-9]{9}$/) }] };
const CHAT_ID = expect.stringMatching(/^chatcmpl-[0-9a-f]{24}$/);

/** A whole answer of each kind, as a supplier sends it, and the answer that a client gets. */
const cases = [
  {
    name: 'chat completion',
    shape: chatCompletion,
    from: { ...envelope, ...member, choices: [{ index: 1, message, logprobs, finish_reason: 'length' }], usage },
    expected: {
      ...common,
      id: CHAT_ID,
      object: 'chat.completion',
      choices: [{ index: 1, message: shownMessage, logprobs, finish_reason: 'length' }],
      usage,
    },
  },
  {
    name: 'chunk of a chat completion',
    shape: chatCompletionChunk,
    from: {
      ...envelope,
      ...member,
      choices: [{ index: 1, delta: message, logprobs, finish_reason: null }],
      usage: null,
    },
    expected: {
      ...common,
      id: CHAT_ID,
      object: 'chat.completion.chunk',
      choices: [{ index: 1, delta: shownMessage, logprobs, finish_reason: null }],
      usage: null,
    },
  },
  {
    name: 'text completion',
    shape: textCompletion,
    from: {
      ...envelope,
      ...member,
      choices: [{ index: 1, text: 'text', logprobs: textLogprobs, finish_reason: 'stop' }],
      usage,
    },
    expected: {
      ...common,
      id: expect.stringMatching(/^cmpl-[0-9a-f]{24}$/),
      object: 'text_completion',
      choices: [{ index: 1, text: 'text', logprobs: textLogprobs, finish_reason: 'stop' }],
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
        { object: SENTINEL, index: 3, embedding: [[1], [2]] },
      ],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    },
    expected: {
      object: 'list',
      data: [
        { object: 'embedding', index: 1, embedding: [0.5, -1] },
        { object: 'embedding', index: 2, embedding: 'AAAA' },
        { object: 'embedding', index: 3, embedding: [[1], [2]] },
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
  return {
    [SENTINEL]: SENTINEL,
    ...(Object.fromEntries(inner) as object),
    provider: { name: SENTINEL, in: [SENTINEL] },
  };
}

/** Returns the same value with each number and text replaced by an object of the supplier. */
function bent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bent);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, bent(one)]));
  return { [SENTINEL]: value };
}

describe.each(cases)('a $name', ({ shape, from, expected }) => {
  it('shows every member that clients read, and the slug as its model', () => {
    expect(shown(shape, from)).toEqual(expected);
  });

  it('is the same in pieces of any size and with blanks', () => {
    const text = JSON.stringify(from, null, 1);
    const whole = filtered(shape, text);
    expect(JSON.parse(whole)).toEqual(expected);
    for (const size of [1, 2, 7, 64]) expect(filtered(shape, text, size)).toBe(whole);
  });

  it('shows nothing that a supplier adds anywhere', () => {
    const answer = shown(shape, marked(from));
    expect(answer).toEqual(expected);
    expect(JSON.stringify(answer)).not.toContain(SENTINEL);
  });

  it('shows no object in place of a text or a number', () => {
    expect(JSON.stringify(shown(shape, bent(from)))).not.toContain(SENTINEL);
    for (const nothing of [{}, { choices: SENTINEL, data: [SENTINEL], usage: SENTINEL }, { choices: [SENTINEL] }])
      expect(JSON.stringify(shown(shape, nothing))).not.toContain(`"${SENTINEL}":`);
  });
});

const choiceOf = (choice: object): JsonObject =>
  (shown(chatCompletion, { choices: [choice] })['choices'] as JsonObject[])[0] as JsonObject;

it('invents no value for a member that is absent or unknown', () => {
  expect(choiceOf({ message: { role: SENTINEL, tool_calls: [{ type: SENTINEL }] }, finish_reason: SENTINEL })).toEqual({
    message: { role: null, tool_calls: [{ type: null }] },
    logprobs: null,
    finish_reason: null,
  });
  expect(choiceOf({ logprobs: { content: [{ token: 't' }] } })['logprobs']).toEqual({ content: [{ token: 't' }] });
  expect(choiceOf({ finish_reason: '' })['finish_reason']).toBeNull();
});

it('passes content in parts, and null', () => {
  const parts = [{ type: 'text', text: 'a' }, { type: 'thinking', thinking: [{ type: 'text', text: 'b' }] }, 'c'];
  expect(choiceOf({ message: { content: parts } })['message']).toEqual({ content: parts });
  expect(choiceOf({ message: { content: null, tool_calls: null, audio: null } })['message']).toEqual({
    content: null,
    tool_calls: null,
    audio: null,
  });
});

it('leaves absent members absent, because a delta without content differs from one with null content', () => {
  const delta = (value: object): unknown =>
    (shown(chatCompletionChunk, { choices: [{ delta: value }] })['choices'] as { delta: unknown }[])[0]?.delta;
  expect(delta({})).toEqual({});
  expect('usage' in shown(chatCompletionChunk, { choices: [] })).toBe(false);
});

it('shows numbers of tokens under common names, and no other name, tier or fingerprint', () => {
  const tokens = { cache_creation_input_tokens: 1, prompt_cache_hit_tokens: 2, total_tokens_cached: 3 };
  const usage = { ...tokens, zz_supplier_tokens: 4, tokens_of_zz_supplier: 5 };
  expect(shown(chatCompletion, { usage, service_tier: SENTINEL })).toMatchObject({ usage: tokens, service_tier: null });
  expect(JSON.stringify(shown(chatCompletion, { usage }))).not.toContain('zz');
  const fingerprintOf = (value: unknown) => shown(chatCompletion, { system_fingerprint: value })['system_fingerprint'];
  expect(fingerprintOf('b4567')).toBe(fingerprintOf('b4567'));
  expect(fingerprintOf('b4567')).not.toBe(fingerprintOf('b4568'));
  expect(fingerprintOf(null)).toBeNull();
});

it('keeps the digits of a number', () => {
  const text = '{"data":[{"embedding":[0.10000000000000000555,1e-7,-0]}],"usage":{"prompt_tokens":1.0}}';
  expect(filtered(embeddingList, text)).toContain(
    '"data":[{"embedding":[0.10000000000000000555,1e-7,-0]}],"usage":{"prompt_tokens":1.0}',
  );
});

it('gives each exchange its own ids, and keeps equal ids of one answer equal', () => {
  const ids = (as: Disguise): string[] => {
    const calls = ['one', 'two', 'one', 7].map((id) => ({ id }));
    const answer = shown(chatCompletion, { choices: [{ message: { tool_calls: calls } }] }, as);
    const [choice] = answer['choices'] as { message: { tool_calls: { id: string }[] } }[];
    return [answer['id'] as string, ...(choice?.message.tool_calls.map(({ id }) => id) ?? [])];
  };
  const [first, second] = [ids(disguiseAs('a')), ids(disguiseAs('a'))];
  expect(first[1]).toBe(first[3]);
  expect(new Set(first).size).toBe(4);
  expect(first.filter((id) => second.includes(id))).toEqual([]);
  expect(first.slice(1).every((id) => /^[A-Za-z0-9]{9}$/.test(id))).toBe(true);
});

it('filters 16 MiB without one long step', () => {
  const piece = Buffer.from(`{"index":0,"embedding":[${Array(3_000).fill(-0.0123456789).join()}]},`);
  const { form, before } = embeddingList(disguise);
  const filter = new JsonFilter(form, before, 4_000_000);
  filter.push(Buffer.from('{"data":['));
  let longest = 0;
  for (let sent = 0; sent < 16 * 1024 * 1024; sent += piece.length) {
    const from = process.cpuUsage();
    filter.push(piece);
    longest = Math.max(longest, process.cpuUsage(from).user / 1_000);
  }
  filter.push(Buffer.from('{}]}'));
  filter.end();
  expect(longest).toBeLessThan(50);
});
