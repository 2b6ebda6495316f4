// Records what a person sees of a canary, as an asciinema cast. Run it while a stack is running (`npm start`):
//   node apps/cli/record.mjs docs/slipway-canary.cast && asciinema play docs/slipway-canary.cast
// The commands run in a real pseudo terminal; only their typing is simulated.
import { spawn } from '@lydell/node-pty';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

const [file] = process.argv.slice(2);
const COMMAND = path.join(import.meta.dirname, 'bin', 'slipway.js');
const SIZE = { cols: 110, rows: 24 };
const NAME = 'recorded';
const MOST_MS = 120_000;
/** The pause between two letters, and after a command, in seconds of the cast. */
const LETTER = 0.04;
const PAUSE = 1.5;

const events = [];
let now = 0;
const show = (text) => events.push([Number(now.toFixed(3)), 'o', text]);

function type(line) {
  show('$ ');
  for (const letter of line) {
    now += LETTER;
    show(letter);
  }
  now += 0.5;
  show('\r\n');
}

/** Runs the words in a terminal, and records its output with the times. */
function record(words) {
  return new Promise((resolve, reject) => {
    const [startedAt, began] = [performance.now(), now];
    const pty = spawn(process.execPath, [COMMAND, ...words], {
      ...SIZE,
      env: { ...process.env, TERM: 'xterm-256color' },
    });
    const tooLong = setTimeout(() => pty.kill(), MOST_MS);
    pty.onData((data) => {
      now = began + (performance.now() - startedAt) / 1000;
      show(data);
    });
    pty.onExit(({ exitCode }) => {
      clearTimeout(tooLong);
      now += PAUSE;
      if (exitCode === 0) resolve();
      else reject(new Error(`slipway ${words.join(' ')} exited with ${exitCode}`));
    });
  });
}

function prepare(words, input = '') {
  const { status, stderr } = spawnSync(process.execPath, [COMMAND, ...words], {
    input,
    encoding: 'utf8',
    timeout: MOST_MS,
  });
  if (status !== 0) throw new Error(`slipway ${words.join(' ')}: ${stderr}`);
}

const spec = { model: { id: 'llama' }, runtime: { target: 'local', engine: 'sim' } };
prepare(['deployments', 'create', NAME]);
try {
  prepare(
    ['rollouts', 'create', NAME, '--revision-file', '-', '--strategy', 'immediate', '--wait'],
    JSON.stringify(spec),
  );
  const patch = '{"model":{"id":"llama-next"}}';
  const canary = ['--strategy', 'canary', '--steps', '25:5,100:3', '--analysis', 'none', '--wait'];
  for (const [line, words] of [
    [
      `slipway rollouts create ${NAME} --patch '${patch}' ${canary.join(' ')}`,
      ['rollouts', 'create', NAME, '--patch', patch, ...canary],
    ],
    [`slipway routes get ${NAME}`, ['routes', 'get', NAME]],
  ]) {
    type(line);
    await record(words);
  }
} finally {
  prepare(['deployments', 'delete', NAME, '--yes', '--wait']);
}
const header = { version: 2, width: SIZE.cols, height: SIZE.rows, title: 'A canary with slipway' };
writeFileSync(file, [header, ...events].map((line) => `${JSON.stringify(line)}\n`).join(''));
