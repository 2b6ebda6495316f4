import { createHash, randomBytes } from 'node:crypto';
import type { JsonForm } from './json-filter.js';

/**
 * Allow-lists for the answers of published products: names of members, with any plain value. A member that is not
 * listed here reaches no client, so a member that a supplier adds tomorrow discloses nothing. Ids are created anew,
 * because their form identifies the supplier.
 */
export interface Disguise {
  /** The name that the client sent as `model`. */
  slug: string;
  /** Differs in each exchange, whatever a client sends. */
  seed: string;
}

export function disguiseAs(slug: string): Disguise {
  return { slug, seed: randomBytes(18).toString('base64url') };
}

/** How an answer of one kind is rebuilt. */
export interface AnswerShape {
  form: JsonForm;
  /** The members that the gateway sets itself, as JSON in Latin-1. */
  before: string;
}

const SCALAR: JsonForm = { scalar: true };
const SCALARS: JsonForm = { scalar: true, items: SCALAR };
/** Vectors, and lists of vectors. */
const VECTOR: JsonForm = { scalar: true, items: SCALARS };
/** Any number of tokens, under names of these words only: others could name the supplier. */
const TOKENS = {
  names:
    /^(?:(?:prompt|completion|input|output|total|cached|cache|read|write|creation|hit|miss|reasoning|thinking|accepted|rejected|prediction|text|image|audio|video|tool|use)_)*tokens?(?:_(?:count|total|cached|read|write|per_second))?$/,
  isNullable: true,
};

function oneOf(...values: string[]): JsonForm {
  return { replace: (value) => (values.includes(value as string) ? (value as string) : null) };
}
function always(constant: string): JsonForm {
  return { replace: () => constant };
}
function scalars(...names: string[]): Record<string, JsonForm> {
  return Object.fromEntries(names.map((name) => [name, SCALAR]));
}

const ROLE = oneOf('assistant', 'tool', 'system', 'user', 'developer', 'function');
const SERVICE_TIER = oneOf('auto', 'default', 'flex', 'priority', 'scale', 'standard', 'batch');
const FINISH_REASON = oneOf('stop', 'length', 'tool_calls', 'function_call', 'content_filter');
const DETAILS: JsonForm = { members: {}, numbers: TOKENS };
const USAGE: JsonForm = {
  numbers: TOKENS,
  members: {
    prompt_tokens_details: DETAILS,
    completion_tokens_details: DETAILS,
    input_tokens_details: DETAILS,
    output_tokens_details: DETAILS,
  },
};
/** A token's probability. A completion of text lists the alternatives as `{token: logprob}`. */
const PROBABILITY: JsonForm = {
  members: { ...scalars('token', 'logprob'), bytes: SCALARS },
  numbers: { names: /^/, isNullable: false },
};
const PROBABILITIES: JsonForm = {
  items: { members: { ...scalars('token', 'logprob'), bytes: SCALARS, top_logprobs: { items: PROBABILITY } } },
};
const LOGPROBS: JsonForm = {
  members: {
    content: PROBABILITIES,
    refusal: PROBABILITIES,
    tokens: SCALARS,
    token_logprobs: SCALARS,
    text_offset: SCALARS,
    top_logprobs: { items: PROBABILITY },
  },
};
const FUNCTION: JsonForm = { members: scalars('name', 'arguments') };
const ANNOTATIONS: JsonForm = {
  items: {
    members: {
      type: oneOf('url_citation', 'file_citation', 'file_path', 'container_file_citation'),
      url_citation: { members: scalars('url', 'title', 'start_index', 'end_index') },
      ...scalars('url', 'title', 'text', 'start_index', 'end_index', 'index', 'file_id', 'filename'),
    },
  },
};
const PART: JsonForm = {
  members: {
    type: oneOf('text', 'output_text', 'refusal', 'image_url', 'input_audio', 'audio', 'thinking', 'reasoning', 'file'),
    ...scalars('text', 'refusal', 'index'),
    thinking: { scalar: true, items: { members: { type: oneOf('text'), ...scalars('text') } } },
    annotations: ANNOTATIONS,
    image_url: { scalar: true, members: scalars('url', 'detail') },
    input_audio: { members: scalars('data', 'format') },
  },
};
const CONTENT: JsonForm = { scalar: true, items: { scalar: true, ...PART } };

function message(disguise: Disguise): JsonForm {
  const toolCall: JsonForm = {
    members: {
      index: SCALAR,
      id: { replace: (value) => toolCallId(value, disguise) },
      type: oneOf('function', 'custom'),
      function: FUNCTION,
      custom: { members: scalars('name', 'input') },
    },
  };
  return {
    members: {
      role: ROLE,
      content: CONTENT,
      ...scalars('refusal', 'reasoning_content', 'reasoning', 'name'),
      tool_calls: { items: toolCall },
      function_call: FUNCTION,
      annotations: ANNOTATIONS,
      audio: {
        members: {
          id: { replace: (value) => toolCallId(value, disguise) },
          ...scalars('data', 'transcript', 'expires_at'),
        },
      },
    },
  };
}

function completion(disguise: Disguise, prefix: string, object: string, choice: Record<string, JsonForm>): AnswerShape {
  const id = `${prefix}-${digest(disguise.seed, 'hex').slice(0, 24)}`;
  return {
    form: {
      members: {
        created: SCALAR,
        system_fingerprint: { replace: (value) => fingerprint(value, disguise) },
        service_tier: SERVICE_TIER,
        choices: {
          items: {
            members: { index: SCALAR, logprobs: LOGPROBS, finish_reason: FINISH_REASON, ...choice },
            defaults: { logprobs: 'null', finish_reason: 'null' },
          },
        },
        usage: USAGE,
      },
      defaults: { created: String(Math.floor(Date.now() / 1000)) },
    },
    before: membersOf({ id, object, model: disguise.slug }),
  };
}

export const chatCompletion = (disguise: Disguise): AnswerShape =>
  completion(disguise, 'chatcmpl', 'chat.completion', { message: message(disguise) });

export const chatCompletionChunk = (disguise: Disguise): AnswerShape =>
  completion(disguise, 'chatcmpl', 'chat.completion.chunk', { delta: message(disguise) });

/** Also the shape of the chunks of a streamed text completion. */
export const textCompletion = (disguise: Disguise): AnswerShape =>
  completion(disguise, 'cmpl', 'text_completion', { text: SCALAR });

export const embeddingList = (disguise: Disguise): AnswerShape => ({
  form: {
    members: {
      data: { items: { members: { object: always('embedding'), index: SCALAR, embedding: VECTOR } } },
      usage: USAGE,
    },
  },
  before: membersOf({ object: 'list', model: disguise.slug }),
});

function membersOf(object: Record<string, string>): string {
  return Buffer.from(JSON.stringify(object).slice(1, -1)).toString('latin1');
}

/**
 * Nine letters and digits: clients send the id back with the result of the call, and some engines accept no other form.
 * Equal ids in one answer stay equal, and nothing of the supplier's numbering remains.
 */
function toolCallId(value: unknown, { seed }: Disguise): string | null {
  if (value === null || value === '') return value;
  return digest(`${seed}\0${String(value)}`, 'base64')
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .slice(0, 9);
}

/** Changes when the server's own does, and shows nothing else of it: some name an engine and its version. */
function fingerprint(value: unknown, { slug }: Disguise): string | null {
  return value === null || value === '' ? null : `fp_${digest(`${slug}\0${String(value)}`, 'hex').slice(0, 10)}`;
}

function digest(text: string, encoding: 'hex' | 'base64'): string {
  return createHash('sha256').update(text).digest(encoding);
}
