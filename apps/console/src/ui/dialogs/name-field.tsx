import { useState, type ReactNode } from 'react';
import { TextField } from '../field.js';

/** Why a name must be typed, in front of the request to type it. */
export const IN_PRODUCTION = 'This is production.';

interface NameField {
  /** Whether the action may continue: the name was typed, or none is needed. */
  isTyped: boolean;
  field: ReactNode;
}

/** The field for a name that a person types before an action is possible; without a name there is none. */
export function useNameField(name: string | undefined, why?: string): NameField {
  const [typed, setTyped] = useState('');
  if (name === undefined) return { isTyped: true, field: null };
  return {
    isTyped: typed === name,
    field: (
      <TextField
        label={[why, `Type ${name} to confirm`].filter(Boolean).join(' ')}
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
    ),
  };
}
