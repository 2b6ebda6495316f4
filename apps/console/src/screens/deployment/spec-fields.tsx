import type { ItemOf } from '@slipway/sdk';
import { SelectField, TextField } from '../../ui/field.js';
import type { RolloutForm } from './rollout-form.js';
import { oneLine } from './short-text.js';

type Target = ItemOf<'listTargets'>;
type Arg = NonNullable<Target['engines'][number]['declared']>[number];

interface SpecFieldsProps {
  form: RolloutForm;
  targets: readonly Target[];
  onChange: (changed: Partial<RolloutForm>) => void;
}

/** What is to run, and where: of arguments those that the operator's engine takes, by their types. */
export function SpecFields({ form, targets, onChange }: SpecFieldsProps) {
  const engines = targets.find(({ name }) => name === form.target)?.engines ?? [];
  const declared = engines.find(({ name }) => name === form.engine)?.declared ?? [];
  const undeclared = Object.keys(form.args).filter((name) => !declared.some((one) => one.name === name));
  const set = (name: string, text: string) => onChange({ args: { ...form.args, [name]: text } });
  return (
    <fieldset className="space-y-3">
      <legend className="text-sm font-semibold">What runs</legend>
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField
          label="model.id"
          required
          value={form.modelId}
          onChange={(event) => onChange({ modelId: event.target.value })}
        />
        <TextField
          label="model.uri"
          placeholder="where its weights are, if the engine needs it"
          value={form.modelUri}
          onChange={(event) => onChange({ modelUri: event.target.value })}
        />
        <SelectField
          label="runtime.target"
          value={form.target}
          onChange={(event) => onChange({ target: event.target.value, engine: '' })}
        >
          <option value="">Choose…</option>
          <Options names={targets.filter(({ removed }) => !removed).map(({ name }) => name)} now={form.target} />
        </SelectField>
        <SelectField
          label="runtime.engine"
          value={form.engine}
          onChange={(event) => onChange({ engine: event.target.value })}
        >
          <option value="">None</option>
          <Options names={engines.map(({ name }) => name)} now={form.engine} />
        </SelectField>
      </div>
      {(declared.length > 0 || undeclared.length > 0) && (
        <div className="grid gap-3 sm:grid-cols-3">
          {declared.slice(0, 100).map((arg) => (
            <ArgField
              key={arg.name}
              arg={arg}
              value={form.args[arg.name] ?? ''}
              onChange={(text) => set(arg.name, text)}
            />
          ))}
          {undeclared.slice(0, 100).map((name) => (
            <TextField
              key={name}
              label={name}
              hint="The engine does not declare it: empty takes it away."
              value={form.args[name] ?? ''}
              onChange={(event) => set(name, event.target.value)}
            />
          ))}
        </div>
      )}
    </fieldset>
  );
}

/** What is chosen now stays a choice, though the operator may have taken it away. */
function Options({ names, now }: { names: string[]; now: string }) {
  const all = now && !names.includes(now) ? [...names, now] : names;
  return all.map((name) => (
    <option key={name} value={name}>
      {name}
    </option>
  ));
}

interface ArgFieldProps {
  arg: Arg;
  value: string;
  onChange: (text: string) => void;
}

function ArgField({ arg, value, onChange }: ArgFieldProps) {
  const hint = [
    arg.type,
    arg.min !== undefined && `from ${arg.min}`,
    arg.max !== undefined && `to ${arg.max}`,
    arg.default !== undefined && arg.default !== null && `${oneLine(arg.default, 40)} unless set`,
    arg.reason,
  ]
    .filter(Boolean)
    .join(', ');
  const choices =
    arg.type === 'boolean' ? ['true', 'false'] : Array.isArray(arg.choices) ? arg.choices.map(String) : undefined;
  if (choices)
    return (
      <SelectField label={arg.name} hint={hint} value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">not set</option>
        <Options names={choices} now={value} />
      </SelectField>
    );
  const isNumber = arg.type === 'integer' || arg.type === 'number';
  return (
    <TextField
      label={arg.name}
      hint={hint}
      inputMode={isNumber ? 'decimal' : undefined}
      fault={isNumber ? rangeFault(arg, value) : undefined}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** Said while it is typed; what counts is what the api says. */
function rangeFault({ min, max }: Arg, text: string): string | undefined {
  const value = Number(text);
  if (text === '' || Number.isNaN(value)) return undefined;
  if (min !== undefined && value < min) return `At least ${min}`;
  if (max !== undefined && value > max) return `At most ${max}`;
  return undefined;
}
