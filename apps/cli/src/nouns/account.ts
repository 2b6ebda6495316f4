import { ask, askSecret } from '../confirmation.js';
import { CliError, EXIT } from '../exit-codes.js';
import { readText } from '../input-files.js';
import type { Session } from '../session.js';
import type { Noun, RunVerb } from './verb.js';
import { WHO } from './views.js';

const CONTEXT = {
  name: 'name',
  columns: [
    { title: 'NAME', of: 'name' },
    { title: 'URL', of: 'url' },
    { title: 'CURRENT', of: 'current' },
  ],
};

export const login: RunVerb = {
  verb: 'login',
  args: '[name]',
  summary: 'Log in to a Slipway with a token, and keep it under a name',
  examples: [
    'slipway login --url http://127.0.0.1:7070 --token-file - < token',
    'slipway login staging --url https://slipway.example.com',
  ],
  flags: [
    { flags: '--url <url>', summary: 'where its api is' },
    { flags: '--token-file <file>', summary: 'the token; - is stdin. Asked for unless said', as: 'secret' },
  ],
  run: async (session, { args: [name], flags }) => {
    const url = (flags['url'] as string | undefined) ?? session.env['SLIPWAY_URL'] ?? (await ask(session, 'Address: '));
    const token = (flags['tokenFile'] as string | undefined) ?? (await tokenOf(session));
    if (!/^[\x21-\x7e]+$/.test(token)) throw new CliError('That is no token.');
    const who = await (await session.clientOf({ url, token })).whoAmI({ signal: session.signal });
    const kept = name ?? new URL(url).host;
    session.contexts.keep({ name: kept, url, token });
    session.note(`Logged in as ${kept}; kept in ${session.contexts.file}`);
    await session.output.print(who, WHO);
  },
};

const tokenOf = async (session: Session) =>
  session.terminal.isInteractive ? askSecret(session, 'Token: ') : (await readText('-', session)).trim();

export const logout: RunVerb = {
  verb: 'logout',
  args: '[name]',
  summary: 'Forget a token here; slipway tokens revoke ends it everywhere',
  examples: ['slipway logout staging'],
  run: async (session, { args: [given] }) => {
    const name = given ?? session.contexts.list().find(({ isCurrent }) => isCurrent)?.name;
    if (name === undefined) throw new CliError('Nobody is logged in.', EXIT.needsLogin);
    session.contexts.forget(name);
    session.note(`Forgot ${name}.`);
  },
};

export const context: Noun = {
  noun: 'context',
  aliases: ['contexts'],
  summary: 'Which Slipway commands talk to',
  verbs: [
    {
      verb: 'list',
      summary: 'List what login has kept',
      examples: ['slipway context list'],
      run: async (session) => {
        const rows = session.contexts.list().map(({ name, url, isCurrent }) => ({ name, url, current: isCurrent }));
        await session.output.print(rows, CONTEXT);
      },
    },
    {
      verb: 'show',
      summary: 'Show which one is used, and where it is',
      examples: ['slipway context show'],
      run: async (session) => {
        const { name, url } = session.contexts.chosen(session.flags.context);
        await session.output.print({ name, url, current: true }, CONTEXT);
      },
    },
    {
      verb: 'use',
      args: '<name>',
      summary: 'Use this one from now on',
      examples: ['slipway context use staging'],
      run: async (session, { args: [name] }) => session.contexts.use(name!),
    },
    {
      verb: 'delete',
      args: '<name>',
      summary: 'Forget one',
      examples: ['slipway context delete staging'],
      run: async (session, { args: [name] }) => session.contexts.forget(name!),
    },
  ],
};
