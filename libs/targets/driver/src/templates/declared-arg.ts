import type { ArgValue, EngineArg } from '@slipway/contracts';
import type { ArgConfig, TemplateConfig } from './template-config.js';

/** NUL cannot be passed on, a line break has no business in an argument and would forge log lines. */
const CONTROL = /[\0\r\n]/;
const MAX_VALUE_LENGTH = 8_192;
const MAX_JSON_BYTES = 8_192;
const DEFAULT_JSON_BYTES = 2_048;

/** An argument that a revision may set. A value stays within the elements that are declared, and becomes no option of its own. */
export class DeclaredArg {
  readonly type: NonNullable<ArgConfig['type']>;
  readonly elements: readonly string[];

  constructor(
    readonly name: string,
    readonly config: ArgConfig,
  ) {
    this.elements = [config.arg].flat();
    this.type = config.type ?? (this.elements.some((one) => one.includes('{}')) ? 'string' : 'switch');
  }

  get isNumber(): boolean {
    return this.type === 'integer' || this.type === 'number';
  }

  /** For people and tuners; what the operator wrote for the command line is nobody else's. */
  describe(): EngineArg {
    const { min, max, at_least, default: preset, choices, tune, quality, reason } = this.config;
    return {
      name: this.name,
      type: this.type === 'switch' ? 'boolean' : this.type,
      ...(min === undefined ? {} : { min }),
      ...(max === undefined ? {} : { max }),
      ...(at_least === undefined ? {} : { at_least }),
      ...(preset === undefined ? {} : { default: preset }),
      ...(choices === undefined ? {} : { choices }),
      ...(tune === undefined ? {} : { tune }),
      ...(quality ? { quality } : {}),
      ...(reason === undefined ? {} : { reason }),
    };
  }

  /** What is wrong with a value, in words that follow the name of the field. */
  problemOf(value: unknown): string | undefined {
    const { type } = this;
    if (type === 'switch') return typeof value === 'boolean' ? undefined : 'is a switch: true or false';
    if (this.isNumber) return this.numberProblem(value);
    if (type === 'json') return this.jsonProblem(value);
    const { choices = [] } = this.config;
    if (type === 'choice' && !choices.includes(value as ArgValue)) return `must be one of ${choices.join(', ')}`;
    return textProblem(value, this.beginsElement);
  }

  /** Its elements for a value that has no problem, or for none. @param written how the text of a value is to be written */
  elementsFor(given: ArgValue | undefined, written = (text: string) => text): string[] {
    const value = given ?? this.config.default;
    if (value === undefined) return [];
    if (this.type === 'switch') {
      if (value === true) return [...this.elements];
      return this.config.off === undefined ? [] : [this.config.off];
    }
    const text = this.type === 'json' ? (compactJson(value) ?? '') : String(value);
    // A function as the replacement, since `$&` in a string would be expanded.
    return this.elements.map((element) => element.replace('{}', () => written(text)));
  }

  /** Whether the value is the first of its element, where a leading `-` would make it an option. */
  private get beginsElement(): boolean {
    return this.elements.some((element) => element.startsWith('{}'));
  }

  private numberProblem(value: unknown): string | undefined {
    const { min = -Number.MAX_VALUE, max = Number.MAX_VALUE } = this.config;
    const isOne = this.type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
    const bounds = [
      ...(this.config.min === undefined ? [] : [`at least ${min}`]),
      ...(this.config.max === undefined ? [] : [`at most ${max}`]),
    ];
    if (isOne && (value as number) >= min && (value as number) <= max) return undefined;
    return `must be a ${this.type === 'integer' ? 'whole' : 'finite'} number${bounds.length > 0 ? `, ${bounds.join(' and ')}` : ''}`;
  }

  private jsonProblem(value: unknown): string | undefined {
    const limit = Math.min(this.config.max_bytes ?? DEFAULT_JSON_BYTES, MAX_JSON_BYTES);
    if (typeof value !== 'string' || Buffer.byteLength(value) > limit)
      return `must be the text of a JSON object or list, at most ${limit} bytes`;
    if (compactJson(value) === undefined) return 'must be the text of a JSON object or list';
    return undefined;
  }
}

/** The arguments of an engine, in the order in which they are appended. */
export function declaredArgs({ args = {} }: Pick<TemplateConfig, 'args'>): DeclaredArg[] {
  return Object.entries(args).map(
    ([name, config]) => new DeclaredArg(name, typeof config === 'string' ? { arg: config } : config),
  );
}

/** What may not be in an element of a command line. @param beginsElement whether it is the first of its element */
export function textProblem(value: unknown, beginsElement: boolean): string | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'must be a finite number';
  if (!['string', 'number', 'boolean'].includes(typeof value)) return 'must be text, a number or a boolean';
  const text = String(value);
  if (beginsElement && text.startsWith('-')) return 'may not begin with "-"';
  if (CONTROL.test(text)) return 'may not contain NUL or line breaks';
  if (text.length > MAX_VALUE_LENGTH) return `may not be longer than ${MAX_VALUE_LENGTH} characters`;
  return undefined;
}

/** Written anew, so that it has no line break and begins with a brace. Undefined for what is no object or list. */
function compactJson(value: unknown): string | undefined {
  try {
    const parsed: unknown = JSON.parse(String(value));
    return parsed !== null && typeof parsed === 'object' ? JSON.stringify(parsed) : undefined;
  } catch {
    // Also too deep for the stack.
    return undefined;
  }
}
