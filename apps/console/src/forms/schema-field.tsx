import { CheckField, ChoicesField, SelectField, TextArea, TextField } from '../ui/field.js';
import { pairsText } from '../ui/text/listed-text.js';
import { holdsSpaces, separatorOf } from './draft.js';
import type { FieldWords } from './layout.js';
import { Marked } from './marked.js';
import { isRequired, isWhole, kindOf, schemaAt, type Path, type Schema } from './schema.js';
import type { Attempt, SchemaFormState } from './use-schema-form.js';

interface SchemaFieldProps {
  form: SchemaFormState<unknown>;
  attempt: Attempt;
  path: Path;
  label: string;
  words?: FieldWords;
}

/** Shows a field as its schema describes it: its kind, limits, default, purpose and fault. */
export function SchemaField({ form, attempt, path, label, words = {} }: SchemaFieldProps) {
  const schema = schemaAt(form.request.schema, path)!;
  const draft = form.at(path);
  const kind = kindOf(schema);
  const text = typeof draft === 'string' ? draft : '';
  const isNeeded = isRequired(form.request.schema, path) && (path.length === 1 || typeof path.at(-2) === 'number');
  const around = { label, hint: hintOf(schema, words.hint), fault: faultOf({ form, attempt, path, words }) };
  const field = {
    ...around,
    value: text,
    required: isNeeded,
    onChange: (event: { target: { value: string } }) => form.change(path, event.target.value),
  };
  const typed = {
    ...field,
    readOnly: words.isReadOnly,
    autoComplete: 'off',
    placeholder: words.placeholder ?? placeholderOf(schema),
  };

  if (kind === 'check')
    return (
      <CheckField
        {...around}
        checked={(draft as boolean | undefined) ?? schema.default === true}
        onChange={(event) => form.change(path, event.target.checked)}
      />
    );
  if (kind === 'choices') {
    const chosen = (draft as readonly string[] | undefined) ?? [];
    const set = (one: string, isChosen: boolean) =>
      form.change(path, isChosen ? [...chosen, one] : chosen.filter((other) => other !== one));
    return <ChoicesField {...around} all={schema.items!.enum!.map(String)} chosen={chosen} onChange={set} />;
  }
  if (words.choices)
    return (
      <SelectField {...field}>
        {Object.entries(words.choices).map(([value, word]) => (
          <option key={value} value={value}>
            {word}
          </option>
        ))}
      </SelectField>
    );
  if (kind === 'choice') return <SelectField {...field}>{optionsOf(schema, text, isNeeded)}</SelectField>;
  if (kind === 'moment') return <TextField {...field} type="datetime-local" step={1} />;
  if (kind === 'json') return <TextArea {...typed} rows={3} spellCheck={false} className="font-mono text-xs" />;
  if (kind === 'pairs' || (kind === 'words' && holdsSpaces(schema)))
    return <TextArea {...typed} rows={2} spellCheck={false} />;
  if (kind === 'number')
    return <TextField {...typed} inputMode={isWhole(schema) ? 'numeric' : 'decimal'} maxLength={24} />;
  const isSecret = schema.format === 'password';
  return (
    <TextField
      {...typed}
      {...(isSecret && { type: 'password', autoComplete: 'new-password' })}
      inputMode={schema.format === 'uri' ? 'url' : undefined}
      maxLength={kind === 'text' ? schema.maxLength : undefined}
      spellCheck={kind === 'text' && schema.pattern === undefined}
    />
  );
}

/**
 * Returns the api's refusal as long as the sent value is unchanged; otherwise the schema's fault.
 * An empty required field needs no message.
 */
function faultOf({ form, attempt, path, words = {} }: Omit<SchemaFieldProps, 'label'>): string | undefined {
  const refused = form.refusalAt(path, attempt);
  const fault = form.faultAt(path);
  if (refused || !fault) return refused;
  if (fault.keyword === 'required' && path.length === 1) return undefined;
  return (fault.keyword === 'pattern' && words.mismatch) || fault.text;
}

const HOW: Partial<Record<ReturnType<typeof kindOf>, string>> = {
  pairs: 'Separate with commas or line breaks.',
  json: 'As JSON.',
  moment: "In this browser's time zone.",
};

/** A limit that no value comes near is no help. */
const MOST_TOLD = 1_000_000;

function hintOf(schema: Schema, own: string | undefined) {
  const { minimum, maximum, default: unless, description } = schema;
  const kind = kindOf(schema);
  const sentences = [
    own ?? description,
    kind === 'words' ? (holdsSpaces(schema) ? 'One per line.' : 'Separate with commas.') : HOW[kind],
    minimum !== undefined && maximum !== undefined && maximum < MOST_TOLD && `${minimum} to ${maximum}.`,
    ['number', 'text', 'choices'].includes(kind) && unless !== undefined && `Default: ${String(unless)}.`,
  ];
  const text = sentences
    .filter((one) => one !== undefined && one !== false)
    .map((one) => (/[.…]$/.test(one) ? one : `${one}.`))
    .join(' ');
  return text === '' ? undefined : <Marked text={text} />;
}

function placeholderOf(schema: Schema): string | undefined {
  const { default: unless, example } = schema;
  const shown = Array.isArray(example) ? example.join(separatorOf(schema)) : (example ?? unless);
  if (kindOf(schema) === 'json') return shown === undefined ? undefined : JSON.stringify(shown);
  if (typeof shown === 'object' && shown !== null) return pairsText(shown, ', ');
  return shown === undefined || shown === null ? undefined : String(shown);
}

function optionsOf({ enum: values = [], default: unless }: Schema, now: string, isNeeded: boolean) {
  const known = values.filter((one) => one !== null).map(String);
  // A value of a later api stays selectable.
  const all = now === '' || known.includes(now) ? known : [...known, now];
  const none = unless === undefined ? (isNeeded ? 'Choose…' : 'not set') : `Default: ${String(unless)}`;
  return [
    <option key="" value="">
      {none}
    </option>,
    ...all.map((one) => (
      <option key={one} value={one}>
        {one.replaceAll('_', ' ')}
      </option>
    )),
  ];
}
