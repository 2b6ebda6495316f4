import { TextField } from './field.js';

const MOST_CHARACTERS = 2000;

/** Why something is cancelled: whoever finds it so asks that first. */
export function ReasonField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <TextField
      label="Reason"
      hint="It stands in the operation's record and in the event. May be left empty."
      maxLength={MOST_CHARACTERS}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
