import type { ReactNode } from 'react';
import { SelectField, TextArea, TextField } from '../../ui/field.js';
import { Panel } from '../../ui/panel.js';
import type { ChatSettings, SettingFaults } from './chat-request.js';
import { isSlug } from './models.js';

interface SettingsPanelProps {
  settings: ChatSettings;
  faults: SettingFaults;
  models: string[];
  onModel: (name: string) => void;
  onChange: (changed: Partial<ChatSettings>) => void;
  actions: ReactNode;
}

export function SettingsPanel({ settings, faults, models, onModel, onChange, actions }: SettingsPanelProps) {
  const all = models.includes(settings.model) ? models : [settings.model, ...models];
  return (
    <Panel title="Request" actions={actions}>
      <div className="space-y-3">
        <SelectField
          label="Model"
          value={settings.model}
          onChange={(event) => onModel(event.target.value)}
          fault={models.includes(settings.model) ? undefined : 'This model is not served now.'}
        >
          <Names label="Deployments with a route" names={all.filter((name) => !isSlug(name))} />
          <Names label="Published model APIs" names={all.filter(isSlug)} />
        </SelectField>
        <TextArea
          label="System message"
          rows={2}
          maxLength={20_000}
          value={settings.system}
          onChange={(event) => onChange({ system: event.target.value })}
        />
        <div className="grid grid-cols-2 gap-2">
          <TextField
            label="Temperature"
            inputMode="decimal"
            maxLength={8}
            placeholder="engine default"
            value={settings.temperature}
            fault={faults.temperature}
            onChange={(event) => onChange({ temperature: event.target.value })}
          />
          <TextField
            label="Max tokens"
            inputMode="numeric"
            maxLength={8}
            placeholder="engine default"
            value={settings.max_tokens}
            fault={faults.max_tokens}
            onChange={(event) => onChange({ max_tokens: event.target.value })}
          />
        </div>
        <TextField
          label="Session key"
          maxLength={255}
          autoComplete="off"
          placeholder="none"
          hint="Requests with the same key go to the same instance if possible. The response names the passport of the session."
          value={settings.session_id}
          onChange={(event) => onChange({ session_id: event.target.value })}
        />
      </div>
    </Panel>
  );
}

function Names({ label, names }: { label: string; names: string[] }) {
  if (names.length === 0) return null;
  return (
    <optgroup label={label}>
      {names.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </optgroup>
  );
}
