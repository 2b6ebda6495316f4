// Run by held-memory.int.spec.ts with `--expose-gc`: prints the memory that each of many open streams takes after a
// garbage collection, for several kinds of streams, as JSON.
import { setImmediate as nextRun } from 'node:timers/promises';
import { AnswerJudge } from '../dist/answers/answer-judge.js';
import { PassedStreamAnswer } from '../dist/answers/passed-answer.js';
import { UsageChunkFilter } from '../dist/requests/usage-option.js';

/** Short streams keep little, so many of them are needed to measure it. */
const [FEW, MANY] = [60, 300];
const STREAM_BYTES = 384 * 1024;
const PIECE_BYTES = 8 * 1024;
const HEADERS = { 'content-type': 'text/event-stream' };
const BEGIN = 'data: {"choices":[{"index":0,"delta":{"content":"';
const EVENT = `${BEGIN}${'a'.repeat(900)}"}}]}\n\n`;
const EVENTS = EVENT.repeat(8);

/** How a stream begins, what it then repeats, up to how many bytes, and how many such streams there are. */
const KINDS = {
  ended: ['', EVENTS, STREAM_BYTES, FEW],
  data: [BEGIN, 'a'.repeat(PIECE_BYTES), STREAM_BYTES, FEW],
  comment: [': ', 'a'.repeat(PIECE_BYTES), STREAM_BYTES, FEW],
  field: ['x-field: ', 'a'.repeat(PIECE_BYTES), STREAM_BYTES, FEW],
  name: ['event: ', 'a'.repeat(PIECE_BYTES), STREAM_BYTES, FEW],
  bare: ['', 'a'.repeat(PIECE_BYTES), STREAM_BYTES, FEW],
  lists: ['data: {"choices":[', '{},'.repeat(PIECE_BYTES / 3), STREAM_BYTES, FEW],
  lines: ['', 'data: a\n'.repeat(PIECE_BYTES / 8), STREAM_BYTES, FEW],
  // An event that is short enough to be kept whole, and as much in whole events.
  kept: [BEGIN, 'a'.repeat(PIECE_BYTES - 100), PIECE_BYTES, MANY],
  short: ['', EVENTS, PIECE_BYTES, MANY],
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

async function measure([begin, piece, size, count]) {
  const before = await used();
  const streams = Array.from({ length: count }, open);
  for (const stream of streams) stream.give(EVENT + begin);
  for (let sent = 0; sent < size; sent += piece.length) {
    for (const stream of streams) stream.give(piece);
    await nextRun();
  }
  const bytes = ((await used()) - before) / count;
  const held = streams.reduce((sum, { judge }) => sum + judge.heldBytes, 0) / count;
  return { bytes: Math.round(bytes), held: Math.round(held) };
}

const results = {};
// Compiles everything before the first measurement.
await measure(KINDS.data);
for (const [name, kind] of Object.entries(KINDS)) results[name] = await measure(kind);
process.stdout.write(JSON.stringify(results));
