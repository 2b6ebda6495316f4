import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { whoQuery } from '../../api/who.js';
import { Button } from '../../ui/button.js';
import { CheckField, SelectField, TextArea, TextField } from '../../ui/field.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { targetText, type Binding, type Product, type Publication } from './flow.js';
import { firstShares, publicationBody, type PublicationFields, type Share } from './publication-form.js';
import { publicationAction, type NewPublication } from './requests.js';
import { Rehearsal } from './rehearsal.js';

/** The api takes no more bindings in one publication. */
const MOST_BINDINGS = 32;

interface PublishDialogProps {
  product: Product;
  qualified: Binding[];
  current: Publication | undefined;
  onClose: () => void;
}

/** The next version, at once and as a whole. */
export function PublishDialog({ product, qualified, current, onClose }: PublishDialogProps) {
  const { data: who } = useQuery(whoQuery);
  const offered = qualified.slice(0, MOST_BINDINGS);
  const [fields, setFields] = useState<PublicationFields>(() => ({
    shares: firstShares(
      offered.map(({ id }) => id),
      current,
    ),
    visibility: current?.audience.visibility === 'shared' ? 'shared' : 'tenant',
    tenants: (current?.audience.tenants ?? []).join('\n'),
    notes: '',
  }));
  const publish = useAction({
    run: (body: NewPublication) => slipway.admin.modelApi.publications.create(body),
    renews: [['model-api-publications'], ['model-api-products'], ['model-api-catalog'], ['models']],
    done: ({ slug, version }) => `Version ${version} of ${slug} is published`,
    onDone: onClose,
  });
  const rehearse = useAction({ run: (body: NewPublication) => slipway.admin.modelApi.publications.rehearse(body) });
  const body = publicationBody(product.id, fields, who?.tenant.is_operator ?? false);
  const change = (changed: Partial<PublicationFields>) => {
    setFields({ ...fields, ...changed });
    // What was rehearsed is not what would be published now.
    rehearse.reset();
    publish.reset();
  };
  const changeShare = (id: string, changed: Partial<Share>) =>
    change({ shares: { ...fields.shares, [id]: { ...fields.shares[id]!, ...changed } } });
  return (
    <FormDialog
      title={`Publish ${product.slug}`}
      description={
        current ? `It takes the place of version ${current.version}, at once.` : 'Clients can name it at once.'
      }
      verb="Publish"
      onClose={onClose}
      isComplete={body.bindings.length > 0}
      isBusy={publish.isPending}
      error={publish.error ?? rehearse.error}
      action={publicationAction(body)}
      onSubmit={() => publish.mutate(body)}
    >
      <fieldset className="space-y-2">
        <legend className="mb-1 text-sm font-medium">Qualified bindings</legend>
        {offered.map((binding) => (
          <ShareFields
            key={binding.id}
            binding={binding}
            share={fields.shares[binding.id]!}
            onChange={(changed) => changeShare(binding.id, changed)}
          />
        ))}
        <p className="text-xs text-soft">
          Weights share out the requests among those of the same priority. Lower priorities are preferred; a higher one
          serves while none below it can.
        </p>
      </fieldset>
      {who?.tenant.is_operator && (
        <SelectField
          label="Who may name it"
          value={fields.visibility}
          onChange={(event) => change({ visibility: event.target.value as PublicationFields['visibility'] })}
        >
          <option value="tenant">this tenant, and those listed</option>
          <option value="shared">every tenant</option>
        </SelectField>
      )}
      {who?.tenant.is_operator && fields.visibility === 'tenant' && (
        <TextArea
          label="Further tenants"
          hint="Their ids (ten_…)."
          rows={2}
          maxLength={70_000}
          value={fields.tenants}
          onChange={(event) => change({ tenants: event.target.value })}
        />
      )}
      <TextField
        label="Notes"
        maxLength={2000}
        value={fields.notes}
        onChange={(event) => change({ notes: event.target.value })}
      />
      <Button isBusy={rehearse.isPending} disabled={body.bindings.length === 0} onClick={() => rehearse.mutate(body)}>
        Dry run
      </Button>
      {rehearse.data && <Rehearsal rehearsal={rehearse.data} />}
    </FormDialog>
  );
}

interface ShareFieldsProps {
  binding: Binding;
  share: Share;
  onChange: (changed: Partial<Share>) => void;
}

function ShareFields({ binding, share, onChange }: ShareFieldsProps) {
  const name = targetText(binding);
  return (
    <div className="grid items-end gap-2 rounded-md border border-line p-2 sm:grid-cols-[1fr_6rem_6rem]">
      <CheckField
        label={name}
        checked={share.isNamed}
        onChange={(event) => onChange({ isNamed: event.target.checked })}
      />
      <TextField
        label="Weight"
        aria-label={`Weight of ${name}`}
        type="number"
        min={0}
        max={1000}
        disabled={!share.isNamed}
        value={share.weight}
        onChange={(event) => onChange({ weight: event.target.value })}
      />
      <TextField
        label="Priority"
        aria-label={`Priority of ${name}`}
        type="number"
        min={0}
        max={1000}
        disabled={!share.isNamed}
        value={share.priority}
        onChange={(event) => onChange({ priority: event.target.value })}
      />
    </div>
  );
}
