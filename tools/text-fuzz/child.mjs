// Runs one input at a time for main.mjs, so that an input that never ends can be stopped from outside.
import { AsyncLocalStorage } from 'node:async_hooks';
import { textOf } from './attacks.mjs';
import { TARGETS } from './targets.mjs';

/** The bytes of one read from a socket, and the pieces that a hostile peer can divide a read into. */
const READ_BYTES = 64 * 1024;
const TINY_READ_PIECES = 10_000;

const targets = new Map(TARGETS.map((target) => [target.name, target]));
/** The input whose parser runs. Its timers belong to it, even when a later input is under way. */
const running = new AsyncLocalStorage();

process.on('message', (input) =>
  running.run(input, async () => {
    const { id, job, attack, size, isTiny } = input;
    const text = textOf(attack, size);
    try {
      const ms = job.source === undefined ? await target(job.name, text, isTiny) : await expression(job, text);
      process.send({ id, ms });
    } catch (error) {
      process.send({ id, error: error.stack, input });
    }
  }),
);
// A timer of a parser must not end the process silently.
process.on('uncaughtException', (error) => {
  const input = running.getStore();
  process.send({ id: input?.id, error: `later: ${error.stack}`, input });
});
process.on('disconnect', () => process.exit());
process.send({ isReady: true });

/** The processor time of a call, in milliseconds, with that of garbage collection. */
async function timeOf(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

async function target(name, text, isTiny) {
  const { run, open, refuses } = targets.get(name);
  const tolerant = async (work) => {
    try {
      await work();
    } catch (error) {
      // A refusal is an answer; any other error is a fault of the parser.
      if (!refuses?.(error)) throw error;
    }
  };
  if (run) return timeOf(() => tolerant(() => run(text)));
  const stream = open();
  const bytes = Buffer.from(text);
  let most = 0;
  const step = isTiny ? TINY_READ_PIECES : READ_BYTES;
  let isOver = false;
  for (let at = 0; at < bytes.length && !isOver; at += step) {
    const read = bytes.subarray(at, at + step);
    const work = async () => {
      try {
        if (isTiny) for (let one = 0; one < read.length; one += 1) stream.push(read.subarray(one, one + 1));
        else stream.push(read);
      } catch (error) {
        if (!refuses?.(error)) throw error;
        isOver = true;
      }
    };
    most = Math.max(most, await timeOf(work));
  }
  if (isOver || !stream.end) return most;
  return Math.max(most, await timeOf(() => tolerant(() => stream.end())));
}

function expression({ source, flags }, text) {
  const pattern = new RegExp(source, flags);
  // A global expression is used to find all matches.
  return timeOf(() => (pattern.global ? text.replace(pattern, '') : pattern.exec(text)));
}
