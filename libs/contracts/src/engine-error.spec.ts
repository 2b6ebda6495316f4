import { expect, it } from '@jest/globals';
import { contextNumbers, errorInText, errorInValue, errorKind } from './engine-error.js';

const error = (value: unknown): object => errorInText(typeof value === 'string' ? value : JSON.stringify(value));
const NONE = { type: null, code: null, param: null, details: {} };

it.each([
  [
    'an object',
    { error: { message: 'm', type: 't', code: 7, param: 'p', n_ctx: 5, nested: {} } },
    { message: 'm', type: 't', code: 7, param: 'p', details: { n_ctx: 5 } },
  ],
  ['an object with its code next to it', { code: 'c', error: { message: 'm' } }, { ...NONE, message: 'm', code: 'c' }],
  ['a text', { error: 'm', error_type: 't' }, { ...NONE, message: 'm', type: 't' }],
  ['a list', { error: [{ message: 'a' }, { message: 'b' }] }, { ...NONE, message: 'a; b' }],
  ['a text of FastAPI', { detail: 'm' }, { ...NONE, message: 'm' }],
  [
    'a list of FastAPI',
    { detail: [{ type: 'missing', loc: ['body', 'messages', 0], msg: 'Field required' }] },
    { ...NONE, message: 'Field required', type: 'missing', param: 'messages', details: {} },
  ],
  ['an object of FastAPI', { detail: { message: 'm', code: 'c' } }, { ...NONE, message: 'm', code: 'c' }],
  ['a list of errors', { errors: [{ message: 'm' }, 'n'] }, { ...NONE, message: 'm; n' }],
  ['a flat error', { object: 'error', message: 'm', code: 40 }, { ...NONE, message: 'm', code: 40 }],
  ['a message', { message: 'm' }, { ...NONE, message: 'm' }],
  ['a list at the root', [{ error: { message: 'm', code: 429 } }], { ...NONE, message: 'm', code: 429 }],
  ['plain text', ' Internal error\n', { ...NONE, message: 'Internal error' }],
  ['a text as JSON', '"m"', { ...NONE, message: 'm' }],
  ['a page', '<html><head><title>502 Bad Gateway</title></head></html>', { ...NONE, message: '502 Bad Gateway' }],
  ['a page without a title', '<div/>', { ...NONE, message: '' }],
  ['an object that says nothing', {}, { ...NONE, message: '' }],
])('reads %s', (_what, body, expected) => expect(error(body)).toEqual(expected));

it.each([
  ['an answer', { choices: [], error: null, message: 'm' }],
  ['embeddings', { data: [], errors: ['x'] }],
  ['an object of another kind', { id: 'x', message: 'm' }],
  ['a list of results', [{ index: 0, score: 1 }]],
  ['text', 'error'],
])('finds no error in %s', (_what, value) => expect(errorInValue(value, false)).toBeUndefined());

it.each([
  [{ type: 'exceed_context_size_error', message: 'x', n_prompt_tokens: 5000, n_ctx: 4096 }, [4096, 5000]],
  [
    {
      message:
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).",
      code: 400,
    },
    [4096, 5000],
  ],
  [{ code: 'context_length_exceeded', message: 'x' }, [null, null]],
  [
    {
      message:
        'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens',
    },
    [4096, 5000],
  ],
  [{ message: 'The input (5000 tokens) is longer than the model’s context length (4096 tokens).' }, [4096, 5000]],
  [
    {
      message:
        'the request exceeds the available context size. try increasing the context size or enable context shift',
    },
    [null, null],
  ],
  [{ message: 'Requested token count exceeds the model’s maximum context length of 4,096 tokens.' }, [4096, null]],
])('knows that a request is too long, and its lengths: %j', (inner, [limit, requested]) => {
  const read = errorInText(JSON.stringify({ error: inner }));
  expect(errorKind(read)).toBe('context_length');
  expect(contextNumbers(read)).toEqual({ limit, requested });
});

it.each([
  ['content_filter', { code: 'content_filter', message: 'x' }],
  ['content_filter', { message: 'The response was filtered by the content management policy.' }],
  ['rate_limit', { type: 'rate_limit_error', message: 'x' }],
  ['rate_limit', { message: 'Rate limit reached for requests' }],
  ['unsupported_content', { message: 'image input is not supported - hint: you may need to provide the mmproj' }],
  ['unsupported_content', { message: 'audio input is not supported' }],
  ['unsupported_content', { message: 'x is not a multimodal model' }],
  ['unsupported_content', { message: 'At most 0 image(s) may be provided in one request.' }],
  ['model_missing', { code: 'model_not_found', message: 'x' }],
  ['model_missing', { message: 'No models loaded. Please load a model in the developer page.' }],
  [null, { message: 'temperature must be at most 2' }],
  [null, { message: 'Unsupported parameter: logit_bias' }],
  [null, { message: 'max_tokens must be at least 1' }],
])('reads the kind %s', (kind, inner) => {
  expect(errorKind(errorInText(JSON.stringify({ error: inner })))).toBe(kind);
});

it('reads the title of a page', () => {
  expect(errorInText('<html><TITLE lang="en">\n502 Bad Gateway </TITLE><h1>x</h1>').message).toBe('502 Bad Gateway');
  expect(errorInText('<html><titles>a</titles><h1 class="x">Not\nfound</h1>').message).toBe('Not\nfound');
  expect(errorInText('<p>Not <b>now</b></p>').message).toBe('Not now');
  expect(errorInText('<script>x</script>').message).toBe('');
  expect(errorInText('<title').message).toBe('<title');
});

it.each(['<title', '<h1 ', '<', '<a', '< '])('reads a page of 1 MiB of "%s" in less than 100 ms', (unit) => {
  const page = unit.repeat(2 ** 20 / unit.length);
  const before = process.cpuUsage();
  errorKind(errorInText(page));
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(100);
});
