// Looks for texts that hold a process. `npm run text-fuzz -- --minutes 10`; README.md has the options.
import { fork } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { randomFrom } from '@slipway/inference-sim/random';
import { attacksFrom, attacksOn, isUnbounded, randomAttack } from './attacks.mjs';
import { productExpressions } from './expressions.mjs';

/** The longest time that one text, or one read of a stream, may take. */
const MOST_MS = 100;
/** Sizes of a text as shares of the largest, so that a bad one is found before it takes minutes. */
const SHARES = [1 / 64, 1 / 8, 1];
/** If a share of 1/8 takes less, even a cubic search of the whole text would take less than `MOST_MS`. */
const NEGLIGIBLE_MS = MOST_MS / 8 ** 3;
const TRIES = 4;
/** Attacks on one subject before it is the turn of the next. */
const ROUND = 20;
/** An input that takes longer is stopped. */
const STOPPED_AFTER_MS = 60_000;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    only: { type: 'string' },
  },
});
const endAt = performance.now() + Number(values.minutes) * 60_000;
const random = randomFrom(Number(values.seed));
const isChosen = ({ name }) => values.only === undefined || name.includes(values.only);

const { TARGETS } = await import('./targets.mjs');
const expressions = productExpressions().filter(({ source, flags }) => isUnbounded(source, flags));
const subjects = [
  ...TARGETS.map((target) => ({
    job: { name: target.name },
    max: target.max,
    isStream: target.open !== undefined,
    atoms: target.atoms,
    attacks: [
      ...attacksFrom(target.atoms),
      ...expressions.filter((one) => target.files?.includes(one.file)).flatMap(own),
    ],
  })),
  ...expressions.map((one) => {
    const attacks = own(one);
    return {
      job: { name: one.name, source: one.source, flags: one.flags },
      max: one.max,
      isStream: false,
      atoms: atomsOf(attacks),
      attacks,
    };
  }),
].filter(({ job }) => isChosen(job));

function own({ source, flags }) {
  return attacksOn(source, flags);
}

function atomsOf(attacks) {
  return [...new Set(attacks.flatMap(({ prefix, unit, suffix }) => [prefix, unit, suffix]))].filter(Boolean);
}

let child;
/** Names of subjects. */
const findings = new Set();
const slowest = new Map();
let inputs = 0;
let lastId = 0;
const report = (text) => process.stdout.write(`${text}\n`);
report(`seed ${values.seed}: ${TARGETS.length} parsers, ${expressions.length} expressions`);

try {
  const left = new Map(subjects.map((subject) => [subject, shuffled(subject.attacks)]));
  // In rounds, so that a short run has also tried something on each subject.
  while (left.size > 0 && performance.now() < endAt)
    for (const [subject, attacks] of [...left]) {
      for (const attack of attacks.splice(0, ROUND)) {
        if (performance.now() > endAt || isFound(subject)) break;
        await attempt(subject, attack);
      }
      if (attacks.length === 0 || isFound(subject)) left.delete(subject);
    }
  const untried = [...left.values()].reduce((sum, attacks) => sum + attacks.length, 0);
  report(`tried every derived attack${untried === 0 ? '' : ` except ${untried}`}`);
  while (performance.now() < endAt && findings.size < subjects.length) {
    const subject = subjects[Math.floor(random() * subjects.length)];
    if (!isFound(subject)) await attempt(subject, randomAttack(subject.atoms, random));
  }
} finally {
  child?.kill('SIGKILL');
}

for (const [name, ms] of [...slowest].sort((a, b) => b[1] - a[1]).slice(0, 10))
  report(`  ${ms.toFixed(0).padStart(4)} ms  ${name.slice(0, 160)}`);
report(`${inputs} inputs, ${findings.size} of which held the process for more than ${MOST_MS} ms of processor time`);
if (findings.size > 0) process.exitCode = 1;

function isFound({ job }) {
  return findings.has(job.name);
}

async function attempt(subject, attack) {
  for (const isTiny of subject.isStream ? [false, true] : [false])
    for (const share of SHARES) {
      const size = Math.floor(subject.max * share * (isTiny ? 1 / 4 : 1));
      if (size < attack.prefix.length + attack.unit.length) continue;
      const ms = await fewest(subject.job, attack, size, isTiny);
      inputs += 1;
      if (ms > (slowest.get(subject.job.name) ?? 0)) slowest.set(subject.job.name, ms);
      if (share < 1 && share > 0.1 && ms < NEGLIGIBLE_MS) return;
      if (ms <= MOST_MS) continue;
      findings.add(subject.job.name);
      report(`${subject.job.name}: ${ms.toFixed(0)} ms for ${size} characters${isTiny ? ' in single bytes' : ''}`);
      report(`  ${JSON.stringify(attack).slice(0, 600)}`);
      return;
    }
}

/** The machine may be busy, and the garbage of earlier inputs counts too: a time is real if it repeats. */
async function fewest(job, attack, size, isTiny) {
  let least = Infinity;
  for (let tries = 0; tries < TRIES && least > MOST_MS; tries += 1)
    least = Math.min(least, await once({ job, attack, size, isTiny }));
  return least;
}

async function once(message) {
  if (!child?.connected) child = await started();
  const input = { ...message, id: (lastId += 1) };
  const answer = answerOf(child, input.id);
  child.send(input);
  const { ms, error } = await answer;
  if (error === undefined) return ms;
  fail(input, error);
  return 0;
}

function fail(input, error) {
  report(`${input?.job.name ?? 'a parser'}: ${error}\n  ${JSON.stringify(input?.attack ?? {}).slice(0, 600)}`);
  process.exitCode = 1;
}

async function started() {
  const made = fork(path.join(import.meta.dirname, 'child.mjs'), { serialization: 'advanced' });
  // A child that was stopped may still refuse a message.
  made.on('error', () => undefined);
  const { error } = await answerOf(made);
  if (error !== undefined) throw new Error(error);
  return made;
}

/**
 * The answer of the child to the input with this id; its first message has none. Without an answer, it is stopped, and
 * the input took for ever.
 */
function answerOf(asked, id) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => asked.kill('SIGKILL'), STOPPED_AFTER_MS);
    const onEnd = (code, signal) =>
      onAnswer(signal === 'SIGKILL' ? { ms: Infinity } : { error: `the process ended with ${code ?? signal}` });
    const onMessage = (message) => {
      if (message.id === id) onAnswer(message);
      // A timer of an earlier input, which is no answer to this one.
      else if (message.error !== undefined) fail(message.input, message.error);
    };
    const onAnswer = (answer) => {
      clearTimeout(timer);
      asked.off('message', onMessage);
      asked.off('exit', onEnd);
      resolve(answer);
    };
    asked.on('message', onMessage);
    asked.on('exit', onEnd);
  });
}

function shuffled(list) {
  const all = [...list];
  for (let at = all.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [all[at], all[other]] = [all[other], all[at]];
  }
  return all;
}
