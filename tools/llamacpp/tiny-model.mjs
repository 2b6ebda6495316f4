// A model that llama-server loads within a second: one layer of random weights, and some syllables to say. Its answers
// are nonsense, but immediate and without a GPU: node tools/llamacpp/tiny-model.mjs <file> [seed]
// Plain JavaScript without imports of this repository, because a reader of the README runs it next to a running stack.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const CONTEXT = 2048;
const EMBEDDING = 64;
const FEED_FORWARD = 64;
const HEADS = 2;
const LAYERS = 1;

// The numbers of the format, https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
const VERSION = 3;
const ALIGNMENT = 32;
const TYPES = { uint32: 4, int32: 5, float32: 6, string: 8, array: 9 };
const TENSOR_F32 = 0;
const TOKENS = { normal: 1, unknown: 2, control: 3, byte: 6 };

const SYLLABLES = [...'bdgklmnprstv'].flatMap((consonant) => [...'aeiou'].map((vowel) => `\u2581${consonant}${vowel}`));
/** The input tokens are bytes, the output tokens are syllables. */
const VOCABULARY = [
  { text: '<unk>', type: TOKENS.unknown },
  { text: '<s>', type: TOKENS.control },
  { text: '</s>', type: TOKENS.control },
  ...Array.from({ length: 256 }, (_, byte) => ({
    text: `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
    type: TOKENS.byte,
  })),
  ...SYLLABLES.map((text) => ({ text, type: TOKENS.normal })),
];
const CHAT_TEMPLATE =
  "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}assistant:";

const [target, chosenSeed = '1'] = process.argv.slice(2);
if (!target || !/^\d{1,9}$/.test(chosenSeed)) {
  process.stderr.write('usage: node tools/llamacpp/tiny-model.mjs <file> [seed]\n');
  process.exit(64);
}
mkdirSync(path.dirname(target), { recursive: true });
// A single rename, because an engine may be about to read the file.
writeFileSync(`${target}.part`, tinyModel(Number(chosenSeed)));
renameSync(`${target}.part`, target);

/** Returns a GGUF file. Two seeds give two models, and one seed always the same bytes. */
function tinyModel(seed) {
  const metadata = [
    text('general.architecture', 'llama'),
    text('general.name', `tiny ${seed}`),
    uint32('general.alignment', ALIGNMENT),
    uint32('llama.context_length', CONTEXT),
    uint32('llama.embedding_length', EMBEDDING),
    uint32('llama.block_count', LAYERS),
    uint32('llama.feed_forward_length', FEED_FORWARD),
    uint32('llama.attention.head_count', HEADS),
    uint32('llama.rope.dimension_count', EMBEDDING / HEADS),
    float32('llama.attention.layer_norm_rms_epsilon', 1e-5),
    text('tokenizer.ggml.model', 'llama'),
    list(
      'tokenizer.ggml.tokens',
      'string',
      VOCABULARY.map(({ text }) => string(text)),
    ),
    list(
      'tokenizer.ggml.scores',
      'float32',
      VOCABULARY.map(() => f32(0)),
    ),
    list(
      'tokenizer.ggml.token_type',
      'int32',
      VOCABULARY.map(({ type }) => u32(type)),
    ),
    uint32('tokenizer.ggml.unknown_token_id', 0),
    uint32('tokenizer.ggml.bos_token_id', 1),
    uint32('tokenizer.ggml.eos_token_id', 2),
    text('tokenizer.chat_template', CHAT_TEMPLATE),
  ];
  const tensors = weights(randomOf(seed));
  let offset = 0;
  const described = tensors.map(({ name, shape, values }) => {
    const head = [string(name), u32(shape.length), ...shape.map(u64), u32(TENSOR_F32), u64(offset)];
    offset += padded(values.byteLength);
    return Buffer.concat(head);
  });
  const head = Buffer.concat([
    Buffer.from('GGUF'),
    u32(VERSION),
    u64(tensors.length),
    u64(metadata.length),
    ...metadata,
    ...described,
  ]);
  const bodies = tensors.map(({ values }) => pad(Buffer.from(values.buffer)));
  return Buffer.concat([pad(head), ...bodies]);
}

/** Weights of the tensors that the architecture requires. As in the format, the row size comes first. */
function weights(random) {
  const tensor = (name, shape, valueOf) => ({
    name: `${name}.weight`,
    shape,
    values: Float32Array.from({ length: shape.reduce((a, b) => a * b) }, (_, index) => valueOf(index)),
  });
  const noise = () => random() * 2 - 1;
  const square = (name) => tensor(name, [EMBEDDING, EMBEDDING], () => noise() / 8);
  const norm = (name) => tensor(name, [EMBEDDING], () => 1);
  const layer = (n) => [
    norm(`blk.${n}.attn_norm`),
    ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((name) => square(`blk.${n}.${name}`)),
    norm(`blk.${n}.ffn_norm`),
    tensor(`blk.${n}.ffn_gate`, [EMBEDDING, FEED_FORWARD], () => noise() / 8),
    tensor(`blk.${n}.ffn_up`, [EMBEDDING, FEED_FORWARD], () => noise() / 8),
    tensor(`blk.${n}.ffn_down`, [FEED_FORWARD, EMBEDDING], () => noise() / 8),
  ];
  // The first number of every embedding is large and stays large; the tokens whose output weights counteract it are
  // never emitted. So no answer ends before its `max_tokens`, and each of its tokens is text.
  const isFirst = (index) => index % EMBEDDING === 0;
  const isSaid = (index) => VOCABULARY[Math.floor(index / EMBEDDING)].type === TOKENS.normal;
  return [
    tensor('token_embd', [EMBEDDING, VOCABULARY.length], (index) => (isFirst(index) ? 8 : noise())),
    ...Array.from({ length: LAYERS }, (_, n) => layer(n)).flat(),
    norm('output_norm'),
    tensor('output', [EMBEDDING, VOCABULARY.length], (index) =>
      isFirst(index) ? (isSaid(index) ? 0 : -100) : noise(),
    ),
  ];
}

/** Uniform in [0, 1): mulberry32. */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function u32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function f32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function string(value) {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}

function entry(key, type, ...value) {
  return Buffer.concat([string(key), u32(TYPES[type]), ...value]);
}

function text(key, value) {
  return entry(key, 'string', string(value));
}

function uint32(key, value) {
  return entry(key, 'uint32', u32(value));
}

function float32(key, value) {
  return entry(key, 'float32', f32(value));
}

function list(key, type, items) {
  return entry(key, 'array', u32(TYPES[type]), u64(items.length), ...items);
}

function padded(length) {
  return Math.ceil(length / ALIGNMENT) * ALIGNMENT;
}

function pad(bytes) {
  return Buffer.concat([bytes, Buffer.alloc(padded(bytes.length) - bytes.length)]);
}
