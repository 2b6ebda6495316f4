import { ask, askSecret } from '../confirmation.js';
import { serverOf, usableToken } from '../contexts.js';
import { CliError, EXIT } from '../exit-codes.js';
import { readText } from '../input-files.js';
import { isOfThisMachine } from '../local-stack.js';
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
  summary: 'Log in to a server with a token, and save it as a context',
  examples: [
    'slipway login --url http://127.0.0.1:7070 --token-file - < token',
    'slipway login staging --url https://slipway.example.com',
  ],
  flags: [
    { flags: '--url <url>', summary: 'URL of the api (default: SLIPWAY_URL, or a prompt)' },
    { flags: '--token-file <file>', summary: 'file with the token; - reads stdin (default: a prompt)', as: 'secret' },
  ],
  run: async (session, { args: [name], flags }) => {
    if (name?.includes('://'))
      throw new CliError(`${name} is an address, not a name.`, EXIT.failed, `Run slipway login --url ${name}`);
    const given = (flags['url'] as string | undefined) ?? session.env['SLIPWAY_URL'] ?? (await ask(session, 'URL: '));
    const url = serverOf(given);
    const token = usableToken((flags['tokenFile'] as string | undefined) ?? (await tokenOf(session)), 'The token');
    if (isSentInTheOpen(url))
      session.note(`${url} does not use https, so others in the network can read the token. Use https if you can.`);
    const who = await (await session.clientOf({ url, token })).whoAmI({ signal: session.signal });
    const kept = name ?? new URL(url).host;
    session.contexts.keep({ name: kept, url, token });
    session.note(`Logged in. Saved as context ${kept} in ${session.contexts.file}`);
    await session.output.print(who, WHO);
  },
};

/** Plain http is fine within this machine, also through a tunnel that begins here. */
const isSentInTheOpen = (url: string): boolean =>
  URL.canParse(url) && new URL(url).protocol === 'http:' && !isOfThisMachine(new URL(url).origin);

const tokenOf = async (session: Session) =>
  session.terminal.isInteractive ? askSecret(session, 'Token: ') : (await readText('-', session)).trim();

export const logout: RunVerb = {
  verb: 'logout',
  args: '[context]',
  summary: 'Delete a context from this machine; its token stays valid until slipway tokens revoke',
  examples: ['slipway logout staging'],
  run: async (session, { args: [given] }) => {
    const name = given ?? session.contexts.list().find(({ isCurrent }) => isCurrent)?.name;
    if (name === undefined) throw new CliError('Not logged in.', EXIT.needsLogin);
    session.contexts.forget(name);
    session.note(`Deleted the context ${name}.`);
  },
};

export const context: Noun = {
  noun: 'context',
  aliases: ['contexts'],
  summary: 'Manage contexts: the servers that you are logged in to',
  verbs: [
    {
      verb: 'list',
      summary: 'List contexts',
      examples: ['slipway context list'],
      run: async (session) => {
        const rows = session.contexts.list().map(({ name, url, isCurrent }) => ({ name, url, current: isCurrent }));
        await session.output.print(rows, CONTEXT);
      },
    },
    {
      verb: 'show',
      summary: 'Show the current context and its URL',
      examples: ['slipway context show'],
      run: async (session) => {
        const { name, url } = session.chosen();
        await session.output.print({ name, url, current: true }, CONTEXT);
      },
    },
    {
      verb: 'use',
      args: '<context>',
      summary: 'Make a context the current one',
      examples: ['slipway context use staging'],
      run: async (session, { args: [name] }) => session.contexts.use(name!),
    },
    {
      verb: 'delete',
      args: '<context>',
      summary: 'Delete a context',
      examples: ['slipway context delete staging'],
      run: async (session, { args: [name] }) => session.contexts.forget(name!),
    },
  ],
};
