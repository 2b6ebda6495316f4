import { readTexts, wholeNumber } from './completion-request.js';
import type { Exchange } from './exchange.js';
import { invalidParameter } from './openai.errors.js';
import { hashOf, randomFrom } from './random.js';
import type { JsonObject } from './request-body.js';

const DEFAULT_DIMENSIONS = 64;
const MAX_INPUTS = 2048;

/** Answers one vector per input: of length 1, and always the same for the same text and model. */
export async function answerEmbeddings(exchange: Exchange, body: JsonObject): Promise<void> {
  const { texts, tokens } = readTexts(body, 'input');
  if (texts.length > MAX_INPUTS) throw invalidParameter('input', `at most ${MAX_INPUTS} items`);
  const format = body['encoding_format'] ?? 'float';
  if (format !== 'float' && format !== 'base64') throw invalidParameter('encoding_format', "'float' or 'base64'");
  const dimensions = wholeNumber(body, 'dimensions', 1, 4096) ?? DEFAULT_DIMENSIONS;

  const { model } = exchange.options;
  // The end of its prompt is the end of an embedding.
  const work = { promptTokens: tokens, tokens: 1 };
  exchange.accept(work, 0);
  await exchange.generated(work);
  exchange.send(200, {
    object: 'list',
    data: texts.map((text, index) => {
      const vector = vectorOf(`${model}\n${text}`, dimensions);
      return { object: 'embedding', index, embedding: format === 'base64' ? base64Of(vector) : Array.from(vector) };
    }),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}

function vectorOf(text: string, dimensions: number): Float32Array {
  const random = randomFrom(hashOf(text));
  const values = Array.from({ length: dimensions }, () => random() - 0.5);
  const length = Math.hypot(...values);
  return Float32Array.from(values, (value) => value / length);
}

/** Little-endian float32, as the API requires, for any byte order of this machine. */
function base64Of(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, index) => bytes.writeFloatLE(value, index * 4));
  return bytes.toString('base64');
}
