import { useEffect, useState } from 'react';
import { TextField } from './field.js';

interface SubmittedFieldProps {
  label: string;
  placeholder?: string;
  value: string;
  onChange: (value: string) => void;
}

/** A text that means nothing until it is whole: it counts with Enter, or when it is left. */
export function SubmittedField({ label, placeholder, value, onChange }: SubmittedFieldProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const submit = () => text.trim() !== value && onChange(text.trim());
  return (
    <TextField
      label={label}
      placeholder={placeholder}
      maxLength={255}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={submit}
      onKeyDown={(event) => event.key === 'Enter' && submit()}
    />
  );
}
