import { SelectField, TextField } from './field.js';

export type Scope = 'viewer' | 'operator' | 'admin';

/** Scopes nest: one says all. */
const SCOPES: [Scope, string][] = [
  ['viewer', 'viewer: reads'],
  ['operator', 'operator: reads, rolls out, approves'],
  ['admin', 'admin: all, and who may come in'],
];

export const highestOf = (scopes: readonly string[]): Scope =>
  SCOPES.map(([scope]) => scope).findLast((scope) => scopes.includes(scope)) ?? 'viewer';

export function ScopesField({ value, onChange }: { value: Scope; onChange: (scope: Scope) => void }) {
  return (
    <SelectField
      label="Scopes"
      hint="Each includes those above it."
      value={value}
      onChange={(event) => onChange(event.target.value as Scope)}
    >
      {SCOPES.map(([scope, says]) => (
        <option key={scope} value={scope}>
          {says}
        </option>
      ))}
    </SelectField>
  );
}

export interface Owner {
  type: 'person' | 'service';
  id: string;
}

export const ownerText = ({ type, id }: { type: string; id: string }): string => `${type} ${id}`;

/** Who answers for a token; without an id the api chooses. */
export function OwnerFields({
  value,
  onChange,
  whenEmpty,
}: {
  value: Owner;
  onChange: (owner: Owner) => void;
  whenEmpty: string;
}) {
  return (
    <div className="grid gap-3 sm:grid-cols-[10rem_1fr]">
      <SelectField
        label="Owner is a"
        value={value.type}
        onChange={(event) => onChange({ ...value, type: event.target.value as Owner['type'] })}
      >
        <option value="person">person</option>
        <option value="service">service</option>
      </SelectField>
      <TextField
        label="Owner"
        maxLength={255}
        autoComplete="off"
        hint={`${whenEmpty} Approvals count owners, and a service approves nothing.`}
        value={value.id}
        onChange={(event) => onChange({ ...value, id: event.target.value })}
      />
    </div>
  );
}
