import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { CliError, EXIT } from '../exit-codes.js';
import type { Session } from '../session.js';
import type { RunVerb } from '../nouns/verb.js';

const PACKAGE = '@slipway/server';

/** The package with api, worker, gateway, console and Postgres. It returns when they serve, and ends the process. */
interface ServerPackage {
  up(options: { home: string; isVerbose: boolean }): Promise<void>;
}

export const up: RunVerb = {
  verb: 'up',
  summary: 'Start a Slipway on this machine until Ctrl-C; its data is in SLIPWAY_HOME (default: ~/.slipway)',
  examples: ['slipway up', 'SLIPWAY_HOME=/srv/slipway SLIPWAY_API_PORT=8070 slipway up', 'slipway up --verbose'],
  run: async (session) => {
    const home = session.contexts.homeToStart();
    const server = (await import(serverFile())) as ServerPackage;
    letServerEndIt(session);
    await server.up({ home, isVerbose: session.flags.verbose === true });
  },
};

/**
 * The package must be installed with this command. One that the current folder has is never used, because the folder
 * may come from someone else.
 */
function serverFile(): string {
  try {
    return pathToFileURL(createRequire(import.meta.url).resolve(PACKAGE)).href;
  } catch {
    throw new CliError(
      `slipway up needs the package ${PACKAGE}, and it is not installed next to this command.`,
      EXIT.failed,
      `Run npm install --global @slipway/cli ${PACKAGE}. In a clone of the repository, run npm start instead.`,
    );
  }
}

/** Without these, a reader that leaves would end this process before the server has stopped its own. */
function letServerEndIt({ terminal: { streams } }: Session): void {
  for (const stream of [streams.stdout, streams.stderr]) stream.removeAllListeners('error');
}
