import { describe, expect, it } from '@jest/globals';
import { LineReader, MAX_LINE_BYTES } from './logs.js';
import { redactSecrets } from './redaction.js';
import { downloadProgress, startFailure } from './start-failure.js';

const SECRET = 'correct-horse-battery';
const KEY = 'Zx9_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL0';

/** The processor time of a call in milliseconds; the least of three, because the machine may be busy. */
function costOf(work: () => unknown): number {
  const costs = [1, 2, 3].map(() => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...costs);
}

/** A cost that hostile text must not exceed: about 100 ms, and more on a slower machine. */
const MUCH =
  20 *
  costOf(() => {
    let sum = 0;
    for (let step = 0; step < 5_000_000; step += 1) sum = (sum * 31 + step) | 0;
    return sum;
  });

const linesOf = (chunks: readonly (string | Buffer)[], secrets: readonly string[] = [SECRET]) => {
  const reader = new LineReader(secrets);
  const lines = chunks.flatMap((chunk) => [...reader.push(Buffer.from(chunk))].map(({ text }) => text));
  return [...lines, reader.rest()].filter((line) => line !== undefined);
};

describe('the value of an option', () => {
  it.each([
    ['serve --api-key abc --port 1', 'serve --api-key [redacted] --port 1'],
    ['serve --token=abc --port 1', 'serve --token=[redacted] --port 1'],
    ["['--hf-hub-token', 'abc', '--x']", "['--hf-hub-token', '[redacted]', '--x']"],
    ['serve -secret "abc" --password x', 'serve -secret "[redacted]" --password [redacted]'],
    ['--api-key --port 1, 5 tokens per second', '--api-key --port 1, 5 tokens per second'],
    ['a token is 5', 'a token is 5'],
    ['GET //user:p@ss@host/x', 'GET //[redacted]@host/x'],
  ])('is redacted: %s', (line, shown) => {
    expect(redactSecrets(line)).toBe(shown);
  });

  it('is redacted behind a line of megabytes', () => {
    const long = `${'-'.repeat(1_000_000)} --api-key abc `;
    expect(redactSecrets(long)).toBe(`${'-'.repeat(1_000_000)} --api-key [redacted] `);
  });
});

describe('text that is no secret', () => {
  it.each([
    'usage: vllm serve [--api-key API_KEY [API_KEY ...]] [--hf-token [HF_TOKEN]]',
    '  --api-key <API_KEY>  the key [env: API_KEY=]',
    '-hft, --hf-token TOKEN   Hugging Face access token (default: value from HF_TOKEN environment variable)',
    '  -token string\n',
    'serve.py: error: argument --api-key: expected one argument',
    "error: unexpected argument '--api-key' found",
    'Error: invalid argument "x" for "--token" flag',
    "error: the argument '--api-key <API_KEY>' cannot be used with '--no-auth'",
    "error: a value is required for '--api-key <API_KEY>' but none was supplied",
    'set --api-key to require a key, or --password to ask for one',
    'the server runs without --api-key; anyone may use it',
    "Namespace(api_key=None, hf_token=None, password='', ssl_keyfile=None)",
    'auth_token: null, api_key: false, secret: true',
    'Invalid API key: must not be empty',
    'password: required, secret: not found',
    'Basic usage: see the manual. Basic authentication is not supported, expected Bearer token',
    'WWW-Authenticate: Basic realm="vllm"',
    'per-token latency 12 ms, multi-token prediction, next-token loss, pre-shared secret mode',
    '--eos-token </s> --image-token 32000 --stop-token <|im_end|> --max-tokens 5',
    'served DeepSeek-R1-Distill-Qwen-32B-Int4-GPTQ-W4A16',
    'served Llama-4-Scout-17B-16E-Instruct-FP8-dynamic2',
    'served Meta-Llama-3-1-70B-Instruct-quantized-w4a16',
    'pulled docker://vllm:v0.18.0@sha256:0123456789abcdef',
    'sk-learn-feature-extraction-models',
    'loaded Qwen2VLForConditionalGenerationWithProcessor',
  ])('is not redacted: %s', (line) => {
    expect(redactSecrets(line)).toBe(line);
    expect(redactSecrets(`${line} `, [], true)).toBe(`${line} `);
  });

  it.each([
    ['llama3', 'loaded meta-llama3-8b and my-llama3', 'loaded meta-llama3-8b and my-llama3'],
    ['llama3', 'the password is llama3.', 'the password is [redacted].'],
    [
      'hunter22',
      '{"text":"line\\nhunter22"} a%3Dhunter22 //u:hunter22@h',
      '{"text":"line\\n[redacted]"} a%3D[redacted] //[redacted]@h',
    ],
    ['loading', 'loading weights, uploading', 'loading weights, uploading'],
    ['loading', "X=loading Y='loading'", "X=[redacted] Y='[redacted]'"],
    ['131072', 'max_model_len is 131072 of 1310720', 'max_model_len is 131072 of 1310720'],
    ['true', 'true', 'true'],
    ['password', 'wrong password', 'wrong password'],
    ['swordfish', 'the word is swordfish', 'the word is [redacted]'],
    ['correct-horse-battery', 'xcorrect-horse-batteryx', 'x[redacted]x'],
  ])('stays if it has the value of a secret for another reason: %s in "%s"', (value, line, shown) => {
    expect(redactSecrets(line, [value])).toBe(shown);
  });

  it.each([
    ['--api-key=abc', '--api-key=[redacted]'],
    ['OPENAI_API_KEY=sk-proj-abc123abc123abc123', 'OPENAI_API_KEY=[redacted]'],
    ["args: ['--api-key', 'abc', '--port']", "args: ['--api-key', '[redacted]', '--port']"],
    ['"--api-key","abc"', '"--api-key","[redacted]"'],
    ['--password TOPSECRET', '--password [redacted]'],
    ["api_key='abc'", "api_key='[redacted]'"],
    ['Authorization: Basic dXNlcjpwYXNz', 'Authorization: Basic [redacted]'],
    ['authorization: bearer abc', 'authorization: bearer [redacted]'],
    [`key ${KEY}`, 'key [redacted]'],
  ])('is distinguished from a secret in the same position: %s', (line, shown) => {
    expect(redactSecrets(line)).toBe(shown);
  });
});

describe('a secret whose end is missing', () => {
  const cut = (text: string) =>
    linesOf(['x'.repeat(MAX_LINE_BYTES - text.length - 1), ' ', text, 'y'.repeat(99), '\n'])[0]!;

  it.each([
    [`${SECRET.slice(0, 12)}`, [SECRET + 'y'.repeat(200)]],
    ['hf_abcdefgh', []],
    ['sk-abcdefgh', []],
    ['//user:pass', []],
    ['Bearer abc', []],
    [KEY.slice(0, 20), []],
  ])('is redacted where its line is cut: %s', (beginning, secrets) => {
    const shown = linesOf(
      ['x'.repeat(MAX_LINE_BYTES - beginning.length - 1), ' ', beginning, `${'y'.repeat(99)}\n`],
      secrets,
    )[0]!;
    expect(shown).not.toContain(beginning);
    expect(shown.endsWith('[redacted] … (cut)')).toBe(true);
  });

  it('is redacted in a line that has no end yet', () => {
    expect(linesOf(['the key is ', SECRET.slice(0, 9)])).toEqual(['the key is [redacted]']);
    expect(linesOf(['the key is corn'])).toEqual(['the key is corn']);
  });

  it('is redacted if its characters arrive in several chunks, between escape sequences and within a character', () => {
    expect(linesOf([...`a ${SECRET} b\n`])).toEqual(['a [redacted] b']);
    expect(linesOf([`a ${SECRET.slice(0, 5)}\u001b[31m\u001b]0;title\u0007`, `${SECRET.slice(5)}\n`])).toEqual([
      'a [redacted]',
    ]);
    const umlauts = 'ä'.repeat(MAX_LINE_BYTES);
    expect(linesOf([`x${umlauts}\n`], [umlauts])).toEqual(['x[redacted] … (cut)']);
  });

  it('is redacted line by line if it has several lines', () => {
    expect(linesOf(['-----BEGIN\nMIIabcdef\nghijkl12\n-----END\n'], ['MIIabcdef\nghijkl12'])).toEqual([
      '-----BEGIN',
      '[redacted]',
      '[redacted]',
      '-----END',
    ]);
  });

  it('is redacted in the shortest text that can have one', () => {
    expect(redactSecrets('//:a@')).toBe('//[redacted]@');
    expect(redactSecrets('//:a')).toBe('//:a');
  });

  it('costs little in each of many empty lines', () => {
    expect(costOf(() => linesOf(['\n'.repeat(64 * 1024)]))).toBeLessThan(MUCH);
  });

  it('is redacted as it is written in JSON and in a URL', () => {
    const values = ['p"ss\\wörd/+ 1', 'MIIabc\nghi'];
    for (const text of [JSON.stringify({ values }), values.map(encodeURIComponent).join('&'), values.join(' ')])
      expect(redactSecrets(text, values)).not.toMatch(/ss|MII/);
  });

  it('does not make the rest of a complete line unreadable', () => {
    expect(linesOf(['loaded gpt4Turbo from //host:8080\n'])).toEqual(['loaded gpt4Turbo from //host:8080']);
    expect(cut('plain text')).toMatch(/ plain text … \(cut\)$/);
  });
});

describe('hostile output', () => {
  it.each([
    ['dashes', '-'],
    ['dashes and letters', '-a'],
    ['schemes', 'a-'],
    ['user names', '//a:'],
    ['names of secrets', '-token '],
    ['escape sequences that do not end', '\u001b;#'],
    ['strings that do not end', '\u001b]'],
    ['control sequences', '\u001b[0'],
    ['beginnings of the secret', SECRET.slice(0, 20)],
  ])('of %s costs little for a megabyte', (_name, unit) => {
    const chunk = Buffer.from(unit.repeat(2 ** 16 / unit.length));
    expect(costOf(() => redactSecrets(unit.repeat(2 ** 17 / unit.length), [SECRET], true))).toBeLessThan(MUCH);
    expect(costOf(() => linesOf(Array.from({ length: 16 }, () => chunk)))).toBeLessThan(MUCH);
  });

  it('in single bytes is copied once', () => {
    expect(costOf(() => linesOf(Array.from({ length: 20_000 }, () => '-')))).toBeLessThan(MUCH);
  });

  it.each([
    ['no such file or directory'],
    [".gguf couldn't find "],
    ["couldn't connect to  to load "],
    ['argument '],
    ['failed to allocate '],
    ['10%|'],
    [' '],
  ])('of 400 long lines of "%s" is classified at little cost', (unit) => {
    const line = { stream: 'stderr' as const, text: unit.repeat(MAX_LINE_BYTES / unit.length) };
    const lines = Array.from({ length: 400 }, () => line);
    expect(costOf(() => startFailure({ code: 1, signal: null }, lines))).toBeLessThan(MUCH);
    expect(costOf(() => downloadProgress(lines))).toBeLessThan(MUCH);
  });

  it('does not hide the cause at the beginning or the end of a long line', () => {
    const long = '-'.repeat(MAX_LINE_BYTES);
    for (const text of [`error: invalid argument: --x ${long}`, `${long} error: invalid argument: --x`])
      expect(startFailure({ code: 1, signal: null }, [{ stream: 'stderr', text }]).cause).toBe('bad_argument');
  });
});
