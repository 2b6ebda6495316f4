import { Command, Option } from 'commander';
import { registerNoun } from './nouns/noun.js';
import { deployments } from './nouns/deployments.js';
import { FORMATS } from './output.js';
import type { GlobalFlags, Session } from './session.js';

/** A group of commands: adds them to the program. What is heavy it imports in its actions, so that `--help` stays quick. */
export type Group = (program: Command, session: Session) => void;

const nouns: Group = (program, session) => {
  for (const noun of [deployments]) registerNoun(program, session, noun);
};

/** Each group is one line here. */
const GROUPS: readonly Group[] = [nouns];

export function programOf(session: Session, version: string): Command {
  const program = new Command('slipway')
    .description('Inference deployments of a Slipway, from a terminal, a script or a pipeline.')
    .version(version, '-V, --version')
    .option('--context <name>', 'which Slipway, by the name that login gave it')
    .addOption(new Option('-o, --output <format>', 'how data is shown (default: table)').choices([...FORMATS]))
    .option('--json <fields>', 'these fields as JSON: id,status')
    .option('-v, --verbose', 'show each request as a line of curl, the token masked')
    .option('-y, --yes', 'do not ask')
    .configureHelp({ showGlobalOptions: true, helpWidth: session.terminal.columnsOf('stdout') ?? 100 })
    .configureOutput({
      writeOut: (text) => void session.terminal.streams.stdout.write(text),
      writeErr: (text) => void session.terminal.streams.stderr.write(text),
    })
    .showSuggestionAfterError()
    .exitOverride()
    .hook('preAction', (_, action) => {
      session.flags = action.optsWithGlobals<GlobalFlags>();
    });
  for (const register of GROUPS) register(program, session);
  return program;
}
