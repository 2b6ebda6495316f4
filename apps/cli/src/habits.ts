import type { Command } from 'commander';

/**
 * Commands of kubectl, gh, docker, Terraform and Stripe, and those that do the same here. A text in single quotes of a
 * shell stays one word, and a test runs each line. `!` begins a sentence in place of a command.
 */
const COMMANDS: Record<string, readonly string[]> = {
  alias: ['!Aliases are those of your shell.'],
  annotate: ['slipway deployments update <deployment> --description <text>'],
  'api-resources': ['slipway --help'],
  'api-versions': ['slipway system'],
  attach: ['slipway logs <deployment> --follow'],
  auth: ['slipway whoami', 'slipway login --url <url>', 'slipway logout', 'slipway tokens list'],
  autoscale: ['slipway deployments scale <deployment> --min 1 --max 4'],
  browse: ['slipway open'],
  'cluster-info': ['slipway system'],
  config: ['slipway context list', 'slipway context use <context>', 'slipway login <context> --url <url>'],
  cp: ['slipway files put <sandbox> <path> --from <file>'],
  create: ['slipway apply -f <file>', 'slipway deployments create <deployment>'],
  dashboard: ['slipway open'],
  delete: ['slipway deployments delete <deployment>'],
  deploy: ['slipway deployments list', 'slipway rollouts create <deployment>'],
  describe: ['slipway deployments get <deployment>'],
  destroy: ['slipway deployments delete <deployment>'],
  down: ['!Ctrl-C stops slipway up.', 'slipway deployments delete <deployment>'],
  edit: ['slipway export <deployment> > file.yaml', 'slipway apply -f file.yaml'],
  exec: ['!Slipway runs no commands in model servers.', 'slipway logs <deployment>'],
  explain: ['slipway schema', 'slipway api /openapi.json'],
  expose: ['slipway routes set <deployment> --revision <revision>'],
  extension: ['!Slipway has no extensions.'],
  get: ['slipway deployments list', 'slipway deployments get <deployment>'],
  images: ['slipway revisions list <deployment>'],
  import: ['slipway apply -f <file>'],
  info: ['slipway system'],
  init: ['slipway login --url <url>'],
  inspect: ['slipway deployments get <deployment>'],
  label: ['slipway deployments update <deployment> --labels key=value'],
  list: ['slipway deployments list'],
  listen: ['slipway events <deployment> --follow', 'slipway webhooks create <url>'],
  ls: ['slipway deployments list'],
  models: ['slipway catalog list', 'slipway deployments list'],
  patch: [
    `slipway deployments update <deployment> --description <text>`,
    `slipway rollouts create <deployment> --patch '{}'`,
  ],
  'port-forward': ['!The gateway serves all deployments.', 'slipway chat <deployment> hello'],
  ps: ['slipway deployments list', 'slipway instances list <deployment>'],
  pull: ['slipway rollouts create <deployment>'],
  replace: ['slipway apply -f <file>'],
  restart: ['slipway deployments restart <deployment>'],
  rm: ['slipway deployments delete <deployment>'],
  run: ['slipway deployments create <deployment>', 'slipway chat <deployment>'],
  scale: ['slipway deployments scale <deployment> --replicas 2'],
  set: [`slipway rollouts create <deployment> --patch '{}'`],
  start: ['!slipway up starts a Slipway on this machine.', 'slipway deployments create <deployment>'],
  stats: ['slipway deployments metrics <deployment>'],
  status: ['slipway system', 'slipway deployments list', 'slipway doctor'],
  stop: ['!Ctrl-C stops slipway up.', 'slipway deployments delete <deployment>'],
  top: ['slipway deployments metrics <deployment>', 'slipway instances list <deployment>'],
  trigger: ['slipway webhooks test <webhook>'],
  undo: ['slipway rollback <deployment>'],
  update: ['slipway deployments update <deployment>'],
  upgrade: ['!docs/guides/upgrade.md describes how to upgrade.'],
  validate: ['slipway apply -f <file> --dry-run=server'],
  wait: ['slipway operations wait <deployment>', 'slipway rollouts watch <deployment>'],
};

/** Verbs within a noun. */
const VERBS: Record<string, Record<string, readonly string[]>> = {
  rollouts: {
    status: ['slipway rollouts watch <deployment>', 'slipway rollouts list <deployment>'],
    undo: ['slipway rollback <deployment>'],
    restart: COMMANDS['restart']!,
    delete: ['slipway rollouts abort <deployment>'],
  },
  deployments: {
    edit: COMMANDS['edit']!,
    apply: ['slipway apply -f <file>'],
    logs: ['slipway logs <deployment>'],
    events: ['slipway events <deployment>'],
    history: ['slipway rollouts history <deployment>'],
    rollback: ['slipway rollback <deployment>'],
    watch: ['slipway deployments list --watch', 'slipway rollouts watch <deployment>'],
  },
  context: {
    current: ['slipway context show'],
    set: ['slipway context use <context>'],
    add: ['slipway login <context> --url <url>'],
    create: ['slipway login <context> --url <url>'],
  },
  tokens: { delete: ['slipway tokens revoke <token>'], get: ['slipway tokens list'] },
  routes: { update: ['slipway routes set <deployment> --revision <revision>'], list: ['slipway deployments list'] },
};

/** Flags of other tools. They stay unknown, so that no command ignores them. */
const FLAGS: readonly (readonly [flags: readonly string[], hint: string])[] = [
  [
    ['-n', '--namespace', '-A', '--all-namespaces'],
    'A token sees one tenant; --context chooses another one. -L limits the rows of a list.',
  ],
  [
    ['--kubeconfig', '--server', '-s', '--host', '--url', '--token', '--hostname'],
    'The server and its token are SLIPWAY_URL and SLIPWAY_TOKEN, or a context: slipway login.',
  ],
  [
    ['--template', '-t', '--format', '--show-labels', '--no-headers'],
    `Use --json name,state, -q '.[].name', -o name or -o json.`,
  ],
  [
    ['--sort-by', '--sort', '--field-selector', '--selector', '--filter'],
    `Filter or sort with -q, such as -q 'map(select(.state == "active"))', or with a flag of --help.`,
  ],
  [['--force', '--auto-approve', '-auto-approve', '--now', '--confirm'], 'To skip the question, use --yes.'],
  [
    ['-w', '--watch'],
    'Lists have --watch: slipway deployments list --watch. To follow a rollout: slipway rollouts watch <deployment>.',
  ],
  [['--ignore-not-found'], 'A missing resource is exit status 6.'],
  [['--all'], 'Name each one; slipway deployments list -o name lists them.'],
  [
    ['-f', '--filename', '-k', '--kustomize'],
    'Only slipway apply and slipway diff take files of deployments; name the resource here.',
  ],
  [['--web'], 'To open the console: slipway open.'],
  [['--color', '--no-color'], 'Set NO_COLOR=1.'],
  [['--paginate'], 'A list command reads all pages: slipway deployments list --limit 1000 -o json.'],
  [
    ['--input', '-d', '--data', '--raw-field', '--field', '--data-raw', '--json-body'],
    'The body is -f <file>, with - for stdin, or --fields name=value.',
  ],
  [['-i', '--include', '--silent'], 'Use -v to see each request and its status.'],
  [['--with-token', '--password-stdin'], 'Use --token-file - to read the token from stdin.'],
  [['--replicas'], `Use --scaling '{"min_replicas":2}'.`],
  [['--to-revision', '--image'], 'See slipway rollback --help and slipway rollouts create --help.'],
];

/** Values of -o that kubectl has. */
const OUTPUT = /^(?:jsonpath|go-template|custom-columns|template|jq)/;
const OUTPUT_HINT = `To choose fields: --json name,state, or -q '.[].name'.`;

/** Short and plural names of nouns, as kubectl has them. */
const NOUNS: Record<string, string> = {
  deploy: 'deployments',
  dep: 'deployments',
  'deployments.apps': 'deployments',
  rs: 'revisions',
  replicasets: 'revisions',
  po: 'instances',
  pod: 'instances',
  pods: 'instances',
  no: 'targets',
  nodes: 'targets',
  node: 'targets',
  svc: 'routes',
  services: 'routes',
  service: 'routes',
  ing: 'routes',
  ns: 'tenants',
  namespaces: 'tenants',
  ev: 'events',
  contexts: 'context',
  all: 'deployments',
  models: 'catalog',
};

/** Commands without verbs that other tools read with one of these. The name of another may be that of a deployment. */
const READ: readonly string[] = ['events', 'logs', 'system', 'whoami', 'schema'];
const READING: readonly string[] = ['get', 'describe', 'list'];

const named = (commands: readonly Command[], word: string): Command | undefined =>
  commands.find((one) => one.name() === word || one.aliases().includes(word));
const nounNamed = (program: Command, word: string): Command | undefined =>
  named(program.commands, word) ?? named(program.commands, NOUNS[word.toLowerCase()] ?? '');

const tryThese = (lines: readonly string[]): string =>
  lines.map((line) => (line.startsWith('!') ? line.slice(1) : `Try: ${line}`)).join('\n');

/**
 * The line to type instead of a command, a flag or a format that other tools have.
 * @param fault the message of commander
 */
export function habitHint(program: Command, fault: string): string | undefined {
  const [, kind, given = ''] =
    /^error: (?:(unknown command|unknown option|option '-o)[^']*)'([^']*)'/.exec(fault) ?? [];
  if (kind === 'unknown command') return commandHint(program, given);
  if (kind === 'unknown option') return flagHint(program, given);
  const [, value = ''] = /^error: option '-o, .*argument '([^']*)'/.exec(fault) ?? [];
  return OUTPUT.test(value.replace(/^=/, '')) ? OUTPUT_HINT : undefined;
}

function flagHint(program: Command, given: string): string | undefined {
  const [name = '', value] = given.split('=');
  if (value !== undefined && isSwitch(program, name)) return `${name} takes no value. Leave out =${value}.`;
  return FLAGS.find(([flags]) => flags.includes(name))?.[1];
}

/** `--wait=false` and `--dry-run=client`, as kubectl takes them. */
const isSwitch = ({ options, commands }: Command, name: string): boolean =>
  options.some(({ long, required, optional }) => long === name && !required && !optional) ||
  commands.some((one) => isSwitch(one, name));

function commandHint(program: Command, word: string): string | undefined {
  const [first = '', second = '', third = ''] = program.args.filter((arg) => !arg.startsWith('-'));
  const isFirst = word === first;
  const ofNoun = isFirst ? nounFirst(program, [first, second, third]) : undefined;
  if (ofNoun !== undefined) return ofNoun;
  const known = isFirst ? COMMANDS : VERBS[named(program.commands, first)?.name() ?? ''];
  return known && Object.hasOwn(known, word) ? tryThese(known[word]!) : undefined;
}

/** `get deployment chat`, `get deploy/chat`, and `deploy ls`. */
function nounFirst(program: Command, [first, second, third]: [string, string, string]): string | undefined {
  const short = nounNamed(program, first);
  if (short && short.commands.length > 0 && second !== '') {
    const verb = named(short.commands, second);
    return verb && `The noun comes first: ${lineOf(short, verb, third)}`;
  }
  const [kind = '', inKind = ''] = second.split('/');
  const group = nounNamed(program, kind);
  if (!group) return undefined;
  const name = inKind || third;
  if (group.commands.length === 0)
    return READING.includes(first) && READ.includes(group.name())
      ? `Try: ${['slipway', group.name(), name || placeholder(group)].join(' ').trimEnd()}`
      : undefined;
  const verb = named(group.commands, first === 'get' && !name ? 'list' : first);
  return verb && `The noun comes first: ${lineOf(group, verb, name)}`;
}

const lineOf = (group: Command, verb: Command, name: string): string =>
  ['slipway', group.name(), verb.name(), name || placeholder(verb)].join(' ').trimEnd();

const placeholder = (command: Command): string =>
  command.registeredArguments
    .filter(({ required }) => required)
    .map((argument) => `<${argument.name()}>`)
    .join(' ');

/** All lines that the hints show, for the test that runs them. */
export const hintLines = (): string[] =>
  [...Object.values(COMMANDS), ...Object.values(VERBS).flatMap((verbs) => Object.values(verbs))]
    .flat()
    .filter((line) => !line.startsWith('!'));

/**
 * Accepts words as other tools do: `version`, `help deployments list`, which commander would answer with the help of
 * the noun.
 */
export function acceptedWords(words: readonly string[]): string[] {
  if (words.length === 1 && words[0] === 'version') return ['--version'];
  if (words[0] === 'help' && words.length > 2) return [...words.slice(1), '--help'];
  return [...words];
}

/** `-o=json`, as kubectl and gh accept it: commander takes the sign for a part of the value. */
export function acceptSigns(command: Command): void {
  for (const option of command.options) {
    if (!option.short || !(option.required || option.optional)) continue;
    const parse = option.parseArg;
    option.argParser((text: string, before: unknown) => {
      const value = text.startsWith('=') ? text.slice(1) : text;
      return parse ? (parse as (one: string, two: unknown) => unknown)(value, before) : value;
    });
  }
  for (const one of command.commands) acceptSigns(one);
}

/** `deployment/chat` and `deploy/chat` as kubectl names one. The name of a deployment has no slash. */
export const deploymentNameOf = (given: string): string =>
  given.replace(/^(?:deployments?|deploy|dep)(?:\.[a-z]+)?\/(?=[^/]+$)/i, '');
