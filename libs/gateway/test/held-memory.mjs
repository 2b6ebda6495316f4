// Run by held-memory.int.spec.ts with `--expose-gc`: prints the memory that each of many open streams takes after a
// garbage collection, for several kinds of streams, as JSON.
import { setImmediate as nextRun } from 'node:timers/promises';
import { AnswerJudge } from '../dist/answers/answer-judge.js';
import { PassedStreamAnswer } from '../dist/answers/passed-answer.js';
import { UsageChunkFilter } from '../dist/requests/usage-option.js';

const STREAMS = 300;
const STREAM_BYTES = 384 * 1024;
const PIECE_BYTES = 8 * 1024;
const HEADERS = { 'content-type': 'text/event-stream' };
const BEGIN = 'data: {"choices":[{"index":0,"delta":{"content":"';
const EVENT = `${BEGIN}${'a'.repeat(900)}"}}]}\n\n`;
const EVENTS = EVENT.repeat(8);

/** How a stream begins, and what it then repeats. */
const KINDS = {
  ended: ['', EVENTS, STREAM_BYTES],
  data: [BEGIN, 'a'.repeat(PIECE_BYTES), STREAM_BYTES],
  comment: [': ', 'a'.repeat(PIECE_BYTES), STREAM_BYTES],
  field: ['x-field: ', 'a'.repeat(PIECE_BYTES), STREAM_BYTES],
  name: ['event: ', 'a'.repeat(PIECE_BYTES), STREAM_BYTES],
  bare: ['', 'a'.repeat(PIECE_BYTES), STREAM_BYTES],
  lists: ['data: {"choices":[', '{},'.repeat(PIECE_BYTES / 3), STREAM_BYTES],
  lines: ['', 'data: a\n'.repeat(PIECE_BYTES / 8), STREAM_BYTES],
  // An event that is short enough to be kept whole.
  kept: [BEGIN, 'a'.repeat(PIECE_BYTES - 100), PIECE_BYTES],
};

/** The parts of a response that a stream uses. */
function client() {
  return {
    headersSent: true,
    writableNeedDrain: false,
    writeHead() {},
    flushHeaders() {},
    write: () => true,
    end() {},
  };
}

function open() {
  const judge = new AnswerJudge('/v1/chat/completions', 200, HEADERS);
  const passed = new PassedStreamAnswer(client(), {}, Buffer.from('"chat"'));
  const filter = new UsageChunkFilter();
  passed.begin(200, HEADERS);
  return {
    judge,
    passed,
    filter,
    give(text) {
      const chunk = Buffer.from(text);
      judge.push(chunk, 1);
      const sent = filter.push(chunk);
      if (sent.length > 0) passed.data(sent);
    },
  };
}

async function used() {
  for (let time = 0; time < 3; time += 1) {
    await nextRun();
    globalThis.gc();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function measure([begin, piece, size]) {
  const before = await used();
  const streams = Array.from({ length: STREAMS }, open);
  for (const stream of streams) stream.give(EVENT + begin);
  for (let sent = 0; sent < size; sent += piece.length) {
    for (const stream of streams) stream.give(piece);
    await nextRun();
  }
  const bytes = ((await used()) - before) / STREAMS;
  const held = streams.reduce((sum, { judge }) => sum + judge.heldBytes, 0) / STREAMS;
  return { bytes: Math.round(bytes), held: Math.round(held) };
}

const results = {};
// Compiles everything before the first measurement.
await measure(KINDS.data);
for (const [name, kind] of Object.entries(KINDS)) results[name] = await measure(kind);
process.stdout.write(JSON.stringify(results));
