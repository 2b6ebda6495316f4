import type { EngineDescription, InstanceSpec, SpecIssue } from '@slipway/target-driver';

/** One engine of the operator's configuration. */
export interface EngineConfig {
  /** Program and arguments, no shell. `node` as the program means the node that runs the worker. */
  command: string[];
  /**
   * Arguments that a revision may set. `{}` in the template stands for the value; a template without it is a switch,
   * present when the value is true. Each becomes one element, appended in the order of this map.
   */
  args?: Record<string, string>;
  /** Names of environment variables that a revision may set. */
  env_allow?: string[];
  /** Where it answers health probes (`/health`), and how long it may take to its first answer (60 s). */
  ready?: { path?: string; timeout_seconds?: number };
}

const MODEL_FIELDS = ['id', 'uri', 'revision', 'format', 'quantization'] as const;
type ModelField = (typeof MODEL_FIELDS)[number];

const PLACEHOLDER = /\{([a-z][a-z_.]*)\}/g;
/** What `{…}` may stand for in a command. `home` is the absolute SLIPWAY_HOME. */
export const KNOWN_PLACEHOLDERS: ReadonlySet<string> = new Set([
  'port',
  'home',
  ...MODEL_FIELDS.map((field) => `model.${field}`),
]);
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** NUL cannot be passed on, a line break has no business in an argument and would forge log lines. */
const CONTROL = /[\0\r\n]/;
const MAX_VALUE_LENGTH = 8_192;

/**
 * An engine's command with its blanks. A client fills blanks and can do nothing else: each value stays within the one
 * element where its blank stands, no shell reads it, and none may begin with `-` and so become an option.
 */
export class EngineTemplate {
  /** Names the problems of the configuration; the template is usable when there are none. */
  readonly problems: string[];
  private readonly modelFields: ModelField[];

  /** `home` is the absolute folder that `{home}` stands for. */
  constructor(
    readonly name: string,
    private readonly config: EngineConfig,
    private readonly home: string,
  ) {
    const placeholders = config.command.flatMap((element) =>
      [...element.matchAll(PLACEHOLDER)].map((match) => match[1]),
    );
    this.modelFields = MODEL_FIELDS.filter((field) => placeholders.includes(`model.${field}`));
    this.problems = this.findProblems(placeholders);
  }

  get readyPath(): string | undefined {
    return this.config.ready?.path;
  }

  get readyTimeoutSeconds(): number | undefined {
    return this.config.ready?.timeout_seconds;
  }

  describe(): EngineDescription {
    return { name: this.name, args: Object.keys(this.config.args ?? {}), env: [...(this.config.env_allow ?? [])] };
  }

  check(spec: InstanceSpec): SpecIssue[] {
    return [...this.checkModel(spec), ...this.checkArgs(spec), ...this.checkEnvironment(spec)];
  }

  /** The command line for a spec that `check` accepted. */
  commandLine(spec: InstanceSpec, port: number): string[] {
    const values = new Map<string, string>([
      ['port', String(port)],
      ['home', this.home],
    ]);
    for (const field of this.modelFields) values.set(`model.${field}`, spec.model[field]!);
    const filled = this.config.command.map((element) =>
      element.replace(PLACEHOLDER, (_all, name: string) => values.get(name)!),
    );
    if (filled[0] === 'node') filled[0] = process.execPath;
    return [...filled, ...this.argumentsOf(spec)];
  }

  private argumentsOf(spec: InstanceSpec): string[] {
    return Object.entries(this.config.args ?? {}).flatMap(([name, template]) => {
      const value = Object.hasOwn(spec.runtime.args, name) ? spec.runtime.args[name] : undefined;
      if (value === undefined) return [];
      // A function as the replacement, since `$&` in a string would be expanded.
      if (template.includes('{}')) return [template.replace('{}', () => String(value))];
      return value === true ? [template] : [];
    });
  }

  private checkModel(spec: InstanceSpec): SpecIssue[] {
    return this.modelFields.flatMap((field): SpecIssue[] => {
      const value = spec.model[field];
      if (value === undefined || value === '') {
        return [{ field: `model.${field}`, code: 'required', message: `engine "${this.name}" needs it` }];
      }
      return valueIssues(`model.${field}`, value);
    });
  }

  private checkArgs(spec: InstanceSpec): SpecIssue[] {
    const declared = this.config.args ?? {};
    return Object.entries(spec.runtime.args).flatMap(([name, value]): SpecIssue[] => {
      const field = `runtime.args.${name}`;
      if (!Object.hasOwn(declared, name)) {
        const names = Object.keys(declared).join(', ') || 'none';
        return [
          {
            field,
            code: 'not_declared',
            message: `engine "${this.name}" does not declare this argument; it declares: ${names}`,
          },
        ];
      }
      if (!declared[name].includes('{}') && typeof value !== 'boolean') {
        return [{ field, code: 'invalid_value', message: 'is a switch: true or false' }];
      }
      return valueIssues(field, value);
    });
  }

  private checkEnvironment(spec: InstanceSpec): SpecIssue[] {
    const allowed = this.config.env_allow ?? [];
    return Object.entries(spec.runtime.env).flatMap(([name, value]): SpecIssue[] => {
      const field = `runtime.env.${name}`;
      if (!allowed.includes(name))
        return [{ field, code: 'not_allowed', message: `engine "${this.name}" does not accept this variable` }];
      if (typeof value !== 'string' || value.includes('\0'))
        return [{ field, code: 'invalid_value', message: 'must be text without NUL' }];
      return [];
    });
  }

  private findProblems(placeholders: string[]): string[] {
    const { command, args = {}, env_allow: allowed = [] } = this.config;
    const at = `engine "${this.name}"`;
    const problems: string[] = [];
    if (command.length === 0 || command[0] === '') problems.push(`${at} has no command`);
    if (!placeholders.includes('port')) problems.push(`${at} does not say where {port} goes in its command`);
    for (const name of placeholders.filter((each) => !KNOWN_PLACEHOLDERS.has(each))) {
      problems.push(
        `${at} uses {${name}}; known are ${[...KNOWN_PLACEHOLDERS].map((known) => `{${known}}`).join(', ')}`,
      );
    }
    if (command.length > 0 && PLACEHOLDER.test(command[0])) problems.push(`${at} lets a value choose its program`);
    PLACEHOLDER.lastIndex = 0;
    for (const [name, template] of Object.entries(args)) {
      if (template.split('{}').length > 2) problems.push(`${at} uses {} twice in argument "${name}"`);
    }
    for (const name of allowed) {
      if (!VARIABLE_NAME.test(name)) problems.push(`${at} allows "${name}", which is no name of a variable`);
      if (name.startsWith('SLIPWAY_')) problems.push(`${at} allows "${name}", which belongs to Slipway`);
    }
    return problems;
  }
}

function valueIssues(field: string, value: unknown): SpecIssue[] {
  const refuse = (message: string): SpecIssue[] => [{ field, code: 'invalid_value', message }];
  if (typeof value === 'number' && !Number.isFinite(value)) return refuse('must be a finite number');
  if (!['string', 'number', 'boolean'].includes(typeof value)) return refuse('must be text, a number or a boolean');
  const text = String(value);
  if (text.startsWith('-')) return refuse('may not begin with "-"');
  if (CONTROL.test(text)) return refuse('may not contain NUL or line breaks');
  if (text.length > MAX_VALUE_LENGTH) return refuse(`may not be longer than ${MAX_VALUE_LENGTH} characters`);
  return [];
}
