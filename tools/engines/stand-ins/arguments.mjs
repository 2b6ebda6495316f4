/** For each kind of parser, the message for an unknown argument and the exit code. */
const REFUSALS = {
  argparse: (one) => ({ line: `error: unrecognized arguments: ${one}`, code: 2 }),
  clap: (one) => ({ line: `error: unexpected argument '${one}' found`, code: 2 }),
  click: (one) => ({ line: `Error: No such option: ${one.split('=')[0]}`, code: 2 }),
  cobra: (one) => ({ line: `Error: unknown flag: ${one}`, code: 1 }),
  // llama-server: common/arg.cpp 823
  separate: (one) => ({ line: `error: invalid argument: ${one}`, code: 1 }),
};

export class ArgumentError extends Error {
  constructor({ line, code }) {
    super(line);
    this.code = code;
  }
}

/** Parses arguments by their names. @throws ArgumentError for an argument that the engine does not know */
export function parse({ style, words = [], positionals = [], values, switches }, argv) {
  const refuse = (one) => new ArgumentError(REFUSALS[style](one));
  for (const [index, word] of words.entries()) if (argv[index] !== word) throw refuse(String(argv[index]));
  const given = { args: {}, names: [...positionals] };
  const rest = argv.slice(words.length);
  while (rest.length > 0) take(rest, given, { style, values, switches, refuse });
  if (given.names.length > 0)
    throw new ArgumentError({
      line: `error: the following arguments are required: ${given.names.join(', ')}`,
      code: 2,
    });
  return given.args;
}

function take(rest, given, { style, values, switches, refuse }) {
  const one = rest.shift();
  if (!one.startsWith('-')) {
    const name = given.names.shift();
    if (name === undefined) throw refuse(one);
    given.args[name] = one;
    return;
  }
  const [name, joined] = style === 'separate' ? [one] : splitOnce(one);
  if (switches.includes(name) && joined === undefined) given.args[name] = true;
  else if (values.includes(name)) given.args[name] = joined ?? rest.shift() ?? '';
  else throw refuse(one);
}

function splitOnce(one) {
  const at = one.indexOf('=');
  return at < 0 ? [one] : [one.slice(0, at), one.slice(at + 1)];
}
