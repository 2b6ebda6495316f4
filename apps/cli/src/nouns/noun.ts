import type { Command } from 'commander';
import type { Session } from '../session.js';
import { addFlags, givenOf } from './flags.js';
import type { Noun, Verb } from './verb.js';

export function registerNoun(program: Command, session: Session, { noun, aliases = [], summary, verbs }: Noun): void {
  const group = program.command(noun).summary(summary).description(summary).aliases(aliases);
  for (const verb of verbs) registerVerb(group, session, verb);
}

export function registerVerb(parent: Command, session: Session, verb: Verb): void {
  const command = parent.command(verb.args ? `${verb.verb} ${verb.args}` : verb.verb).summary(verb.summary);
  command.description(verb.summary);
  addFlags(command, verb);
  command.addHelpText('after', ['', 'Examples:', ...verb.examples.map((line) => `  ${line}`)].join('\n'));
  command.action(async () => {
    const { runCall } = await import('../running.js');
    const given = await givenOf(command, verb, session);
    await ('run' in verb ? verb.run(session, given) : runCall(session, verb, given));
  });
}
