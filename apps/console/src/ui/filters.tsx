import { useEffect, useState } from 'react';
import { useAddress } from '../api/search.js';
import { SelectField, TextField } from './field.js';

/**
 * A filter that is kept in the address. It applies on Enter and when the field loses the focus, not with each letter.
 */
export function TextFilter({ name, label, placeholder }: { name: string; label: string; placeholder?: string }) {
  const [address, change] = useAddress();
  const kept = address[name] ?? '';
  const [draft, setDraft] = useState(kept);
  useEffect(() => setDraft(kept), [kept]);
  const keep = () => draft.trim() !== kept && change({ [name]: draft.trim() });
  return (
    <TextField
      label={label}
      placeholder={placeholder}
      maxLength={255}
      value={draft}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={keep}
      onKeyDown={(event) => event.key === 'Enter' && keep()}
    />
  );
}

interface ChoiceFilterProps {
  name: string;
  label: string;
  choices: readonly string[];
  /** The words of choices for people; by default the choices themselves. */
  words?: Readonly<Record<string, string>>;
}

export function ChoiceFilter({ name, label, choices, words = {} }: ChoiceFilterProps) {
  const [address, change] = useAddress();
  return (
    <SelectField
      label={label}
      value={address[name] ?? ''}
      onChange={(event) => change({ [name]: event.target.value })}
      className="w-auto"
    >
      <option value="">all</option>
      {choices.map((choice) => (
        <option key={choice} value={choice}>
          {words[choice] ?? choice.replaceAll('_', ' ')}
        </option>
      ))}
    </SelectField>
  );
}
