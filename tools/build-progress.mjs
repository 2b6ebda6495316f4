// Runs a step of a long build and shows that it advances: in one line on a terminal, and elsewhere in a line now and
// then. Plain JavaScript without imports of this repository, because builds run before anything is built.
import { spawn } from 'node:child_process';

const TICK_MS = 1_000;
/** How often a log gets a line. */
const LOG_MS = 30_000;
const MOST_OUTPUT = 64 * 2 ** 20;

/** Shows a line on stderr while a step runs: stdout is for the result. */
export class Progress {
  constructor(title, stream = process.stderr) {
    this.title = title;
    this.stream = stream;
    this.note = '';
    this.startedAt = performance.now();
    this.toldAt = this.startedAt;
    this.say(`${title} …`);
    this.timer = setInterval(() => this.tick(), TICK_MS);
    this.timer.unref();
  }

  /** The part that is done, such as `42 %`. */
  set(note) {
    this.note = note;
  }

  end() {
    clearInterval(this.timer);
    if (this.stream.isTTY) this.stream.write('\r\u001b[K');
  }

  tick() {
    const now = performance.now();
    if (!this.stream.isTTY && now - this.toldAt < LOG_MS) return;
    this.toldAt = now;
    const seconds = Math.round((now - this.startedAt) / 1_000);
    this.say(`${this.title}${this.note ? `: ${this.note}` : ''}, ${clock(seconds)} so far`);
  }

  say(line) {
    if (this.stream.isTTY)
      this.stream.write(`\r\u001b[K${line.slice(0, Math.max(20, (this.stream.columns ?? 80) - 1))}`);
    else this.stream.write(`${line}\n`);
  }
}

const clock = (seconds) => (seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`);

/**
 * Runs a program under a progress line. @returns its exit status and all of its output; the status is null if it did
 * not end by itself
 */
export function runStep(title, command, args, { noteOf = () => undefined, timeoutMs, ...options } = {}) {
  const progress = new Progress(title);
  return new Promise((resolve) => {
    // A group of its own, so that the compilers of a build end with it.
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, ...options });
    const kill = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
      } catch {
        // It has ended already.
      }
    };
    process.once('exit', kill);
    let output = '';
    const stop = () => {
      output += `\nIt was stopped after ${timeoutMs / 1_000} s.`;
      kill();
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(stop, timeoutMs);
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        if (output.length < MOST_OUTPUT) output += text;
        const note = noteOf(text);
        if (note !== undefined) progress.set(note);
      });
    const end = (status, error) => {
      clearTimeout(timer);
      process.off('exit', kill);
      progress.end();
      resolve({ status, output: error ? `${output}\n${error.message}` : output });
    };
    child.once('error', (error) => end(1, error));
    child.once('close', (status) => end(status));
  });
}
