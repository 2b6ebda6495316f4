import type { Target } from '../../../api/items.js';
import type { Path } from '../../../forms/schema.js';
import type { Attempt, SchemaFormState } from '../../../forms/use-schema-form.js';
import { SelectField, TextArea, TextField } from '../../../ui/field.js';
import { argumentFault, argumentHelp, type EngineArgument } from './argument-help.js';
import type { ArgTexts } from './rollout-form.js';
import { oneLine } from '../../../ui/text/one-line.js';

const MOST_DEFAULT = 40;

interface RuntimeFieldsProps {
  form: SchemaFormState<unknown>;
  attempt: Attempt;
  /** The path of the spec's runtime. */
  path: Path;
  targets: readonly Target[];
  args: ArgTexts;
  onArgs: (args: ArgTexts) => void;
}

/**
 * The fields of the runtime: existing targets and engines, and the arguments of the operator's engine, by their types.
 */
export function RuntimeFields({ form, attempt, path, targets, args, onArgs }: RuntimeFieldsProps) {
  const { target = '', engine = '' } = (form.at(path) ?? {}) as { target?: string; engine?: string };
  const engines = targets.find(({ name }) => name === target)?.engines ?? [];
  const declared = engines.find(({ name }) => name === engine)?.declared ?? [];
  const undeclared = Object.keys(args).filter((name) => !declared.some((one) => one.name === name));
  const set = (name: string, text: string) => onArgs({ ...args, [name]: text });
  const refused = (name: string) => form.refusalAt([...path, name], attempt);
  return (
    <fieldset className="space-y-3">
      <legend className="text-sm font-semibold">Runtime</legend>
      <div className="grid gap-3 sm:grid-cols-2">
        <SelectField
          label="Target"
          required
          fault={refused('target')}
          value={target}
          onChange={(event) => {
            form.change([...path, 'target'], event.target.value);
            form.change([...path, 'engine'], '');
          }}
        >
          <option value="">Choose…</option>
          <Options names={targets.filter(({ removed }) => !removed).map(({ name }) => name)} now={target} />
        </SelectField>
        <SelectField
          label="Engine"
          fault={refused('engine')}
          value={engine}
          onChange={(event) => form.change([...path, 'engine'], event.target.value)}
        >
          <option value="">None</option>
          <Options names={engines.map(({ name }) => name)} now={engine} />
        </SelectField>
      </div>
      {refused('args') && <p className="text-xs text-bad">{refused('args')}</p>}
      {(declared.length > 0 || undeclared.length > 0) && (
        <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
          {declared.slice(0, 100).map((arg) => (
            <ArgField key={arg.name} arg={arg} value={args[arg.name] ?? ''} onChange={(text) => set(arg.name, text)} />
          ))}
          {undeclared.slice(0, 100).map((name) => (
            <TextField
              key={name}
              label={name}
              hint="The engine does not declare this argument. Clear the field to remove it."
              value={args[name] ?? ''}
              onChange={(event) => set(name, event.target.value)}
            />
          ))}
        </div>
      )}
    </fieldset>
  );
}

/** The current value stays selectable, even if the operator has removed it. */
function Options({ names, now }: { names: string[]; now: string }) {
  const all = now && !names.includes(now) ? [...names, now] : names;
  return all.map((name) => (
    <option key={name} value={name}>
      {name}
    </option>
  ));
}

interface ArgFieldProps {
  arg: EngineArgument;
  value: string;
  onChange: (text: string) => void;
}

function ArgField({ arg, value, onChange }: ArgFieldProps) {
  const common = { label: arg.name, hint: argumentHelp(arg), fault: argumentFault(arg, value), value };
  const { type, choices: declared, default: preset } = arg;
  const choices = type === 'boolean' ? ['true', 'false'] : Array.isArray(declared) ? declared.map(String) : undefined;
  const none = preset === undefined || preset === null ? 'not set' : `Default: ${oneLine(preset, MOST_DEFAULT)}`;
  if (choices)
    return (
      <SelectField {...common} onChange={(event) => onChange(event.target.value)}>
        <option value="">{none}</option>
        <Options names={choices} now={value} />
      </SelectField>
    );
  if (type === 'json')
    return (
      <TextArea
        {...common}
        rows={3}
        spellCheck={false}
        className="font-mono text-xs"
        onChange={(event) => onChange(event.target.value)}
      />
    );
  const isNumber = type === 'integer' || type === 'number';
  return (
    <TextField
      {...common}
      inputMode={isNumber ? 'decimal' : undefined}
      placeholder={none}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
