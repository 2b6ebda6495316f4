import { CommanderError } from 'commander';
import { CliError, EXIT, exitCodeOf } from './exit-codes.js';
import { failureLines } from './failure-lines.js';
import { acceptedWords } from './habits.js';
import { programOf } from './program.js';
import { Session } from './session.js';
import { setMaxListeners } from 'node:events';
import { createRequire } from 'node:module';

/** The version in the package.json next to the bundle, which a release writes. */
const VERSION = (createRequire(import.meta.url)('../package.json') as { version: string }).version;

const { stdin, stdout, stderr, env } = process;
const interrupt = new AbortController();
// Each check of the doctor and each source that is followed listens to it.
setMaxListeners(0, interrupt.signal);
// Only once: a person who presses Ctrl-C twice does not want to wait for the command.
process.once('SIGINT', () => interrupt.abort());
for (const stream of [stdout, stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // The reader has read enough, as `head` does. Node gets no SIGPIPE, so the command ends as if it had.
    if (error.code === 'EPIPE') process.exit(EXIT.readerLeft);
    throw error;
  });

const session = new Session({ stdin, stdout, stderr, env, cwd: process.cwd(), signal: interrupt.signal });
try {
  const program = programOf(session, VERSION);
  const [, , first, ...words] = process.argv;
  if (first === '__complete') {
    const { completionsOf } = await import('./completions.js');
    for (const one of await completionsOf(program, session, words)) session.output.data(one);
  } else await program.parseAsync(acceptedWords(process.argv.slice(2)), { from: 'user' });
  process.exitCode = session.exitCode;
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode;
  else if (interrupt.signal.aborted && !(error instanceof CliError)) process.exitCode = EXIT.cancelled;
  else {
    for (const line of failureLines(error, session.terminal)) session.note(line);
    process.exitCode = exitCodeOf(error);
  }
}
