import { spawn } from 'node:child_process';
import { CliError, EXIT } from '../exit-codes.js';
import type { Session } from '../session.js';
import { withoutToken, type Environment } from '../terminal.js';
import type { RunVerb } from './verb.js';

const ANSWER_MS = 10_000;
/** A launcher that cannot open anything fails soon. One that keeps running is the browser itself. */
const LAUNCH_MS = 2_000;

export const open: RunVerb = {
  verb: 'open',
  summary: 'Open the console in a browser; print its URL if there is no browser or in a pipe',
  examples: ['slipway open', 'slipway open --print'],
  flags: [{ flags: '--print', summary: 'only print the URL' }],
  run: async (session, { flags }) => {
    const url = await consoleOf(session);
    const program = flags['print'] || !session.terminal.isTerminal('stdout') ? undefined : browserOf(session.env);
    if (program === undefined || !(await hasOpened(program, url, session.env))) session.output.data(url);
    else session.note(`Opened ${url}`);
  },
};

/** Requested without the token: neither this server nor a redirect target receives it. */
async function consoleOf(session: Session): Promise<string> {
  const { url } = session.chosen();
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new CliError(`${url} is not a valid Slipway URL.`);
  const { href, pathname } = new URL(url);
  const { withinTime } = await import('@slipway/sdk');
  const answer = await withinTime(ANSWER_MS, session.signal, (signal) =>
    session.fetch(href, { headers: { accept: 'text/html' }, signal }),
  ).catch(() => {
    session.signal.throwIfAborted();
    throw new CliError(`${href}: no response`, EXIT.failed, 'Run slipway doctor to find the cause.');
  });
  await answer.body?.cancel();
  const isPage = answer.ok && /^text\/html\b/i.test(answer.headers.get('content-type') ?? '');
  // An api without a console redirects page requests to its docs.
  if (!isPage || new URL(answer.url || href).pathname !== pathname)
    throw new CliError(`This Slipway serves no console at ${href}`, EXIT.notFound);
  return href;
}

function browserOf({ BROWSER, DISPLAY, WAYLAND_DISPLAY }: Environment): string | undefined {
  if (BROWSER) return BROWSER;
  if (process.platform === 'darwin') return 'open';
  if (process.platform === 'win32') return 'explorer';
  return DISPLAY || WAYLAND_DISPLAY ? 'xdg-open' : undefined;
}

/** Runs without a shell, so that the address is never interpreted as a command. */
function hasOpened(program: string, url: string, env: Environment): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, [url], { env: withoutToken(env), stdio: 'ignore', detached: true });
    const opened = setTimeout(() => resolve(true), LAUNCH_MS);
    const end = (hasWorked: boolean) => {
      clearTimeout(opened);
      resolve(hasWorked);
    };
    child.once('error', () => end(false));
    // explorer always exits with 1.
    child.once('exit', (code) => end(code === 0 || process.platform === 'win32'));
    child.unref();
  });
}
