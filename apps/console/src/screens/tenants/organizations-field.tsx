import { TextArea } from '../../ui/field.js';

export function OrganizationsField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <TextArea
      label="Organizations"
      hint="external_organization_ids: org_id in the hosted provider's tokens, one a line. The tenant may let in their users."
      spellCheck={false}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
