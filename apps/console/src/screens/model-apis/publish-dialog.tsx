import type { BodyOf, RehearsalOf } from '@slipway/sdk';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { request } from 'request:createModelApiPublication';
import { commandsOf } from '../../actions/commands.js';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import type { Binding, Product, Publication } from '../../api/items.js';
import { whoQuery } from '../../api/who.js';
import { SchemaDialog } from '../../forms/schema-dialog.js';
import { useSchemaForm, type Attempt } from '../../forms/use-schema-form.js';
import { Button } from '../../ui/button.js';
import { CheckField, TextField } from '../../ui/field.js';
import { ErrorNote } from '../../ui/error-note.js';
import { targetText } from './flow.js';
import { publicationLayout } from './layouts.js';
import { firstShares, namedShares, type Share } from './publication-form.js';

type NewPublication = BodyOf<'createModelApiPublication'>;

const CLI = { words: 'publications create', args: ['product_id'] };

/** A page does not show more. */
const MOST_LINES = 100;
const LONGEST_VALUE = 300;

/** Shows the effect of a publication: nothing was changed. */
function PublicationRehearsal({ rehearsal }: { rehearsal: RehearsalOf<'createModelApiPublication'> }) {
  const { would, diff, warnings = [] } = rehearsal;
  return (
    <div role="status" className="space-y-2 rounded-md bg-good-soft p-3 text-sm text-good">
      <p className="font-medium">Valid. This would {would.replaceAll('_', ' ')}. Nothing was changed.</p>
      {diff.length > 0 && (
        <pre tabIndex={0} role="region" aria-label="Preview of changes" className="max-h-48 overflow-auto text-xs">
          {diff
            .slice(0, MOST_LINES)
            .map(({ op, path, value }) => `${op} ${path} ${rehearsedValueText(value)}`)
            .join('\n')}
        </pre>
      )}
      {warnings.length > 0 && (
        <ul className="list-disc pl-5">
          {warnings.slice(0, MOST_LINES).map(({ field, code, message }) => (
            <li key={`${field} ${code}`}>
              <code>{field}</code>: {message ?? code}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const rehearsedValueText = (value: unknown): string => (JSON.stringify(value) ?? '').slice(0, LONGEST_VALUE);

/** The api accepts no more bindings in one publication. */
const MOST_BINDINGS = 32;

interface PublishDialogProps {
  product: Product;
  qualified: Binding[];
  current: Publication | undefined;
  onClose: () => void;
}

/** The next version, which is published completely and at once. */
export function PublishDialog({ product, qualified, current, onClose }: PublishDialogProps) {
  const { data: who } = useQuery(whoQuery);
  const offered = qualified.slice(0, MOST_BINDINGS);
  const [shares, setShares] = useState(() =>
    firstShares(
      offered.map(({ id }) => id),
      current,
    ),
  );
  const layout = useMemo(() => publicationLayout(who?.tenant.is_operator ?? false), [who?.tenant.is_operator]);
  const form = useSchemaForm<NewPublication>(request, layout, {
    value: { audience: current?.audience },
    fixed: { product_id: product.id, bindings: namedShares(shares) },
  });
  const publish = useAction({
    run: (body: NewPublication) => slipway.admin.modelApi.publications.create(body),
    renews: [['model-api-publications'], ['model-api-products'], ['model-api-catalog'], ['models']],
    done: ({ slug, version }) => `Version ${version} of ${slug} published`,
    onDone: onClose,
  });
  const rehearse = useAction({ run: (body: NewPublication) => slipway.admin.modelApi.publications.rehearse(body) });
  const isNow = ({ variables }: Attempt) => JSON.stringify(variables) === JSON.stringify(form.body);
  const { bindings } = form.body;
  return (
    <SchemaDialog
      form={form}
      run={publish}
      title={`New publication of ${product.slug}`}
      description={current ? `It replaces version ${current.version} immediately.` : 'Clients can use it immediately.'}
      verb="Publish"
      onClose={onClose}
      action={commandsOf({ request, ids: [], body: form.body }, CLI)}
      before={
        <fieldset className="space-y-2">
          <legend className="mb-1 text-sm font-medium">Qualified bindings</legend>
          {offered.map((binding) => (
            <ShareFields
              key={binding.id}
              binding={binding}
              share={shares[binding.id]!}
              faultOf={(name) =>
                form.faultAt(['bindings', bindings.findIndex(({ binding_id }) => binding_id === binding.id), name])
                  ?.text
              }
              onChange={(changed) => setShares({ ...shares, [binding.id]: { ...shares[binding.id]!, ...changed } })}
            />
          ))}
          <p className="text-xs text-soft">
            Weights divide the requests among the bindings of one priority. Bindings with the lowest priority number
            serve first. Higher numbers serve only if none with a lower number can.
          </p>
        </fieldset>
      }
    >
      <Button isBusy={rehearse.isPending} disabled={!form.isComplete} onClick={() => rehearse.mutate(form.body)}>
        Preview
      </Button>
      {rehearse.error && <ErrorNote error={rehearse.error} />}
      {/* The rehearsed version may differ from the version that would be published now. */}
      {rehearse.data && isNow(rehearse) && <PublicationRehearsal rehearsal={rehearse.data} />}
    </SchemaDialog>
  );
}

interface ShareFieldsProps {
  binding: Binding;
  share: Share;
  faultOf: (name: 'weight' | 'priority') => string | undefined;
  onChange: (changed: Partial<Share>) => void;
}

function ShareFields({ binding, share, faultOf, onChange }: ShareFieldsProps) {
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
        inputMode="numeric"
        fault={faultOf('weight')}
        disabled={!share.isNamed}
        value={share.weight}
        onChange={(event) => onChange({ weight: event.target.value })}
      />
      <TextField
        label="Priority"
        aria-label={`Priority of ${name}`}
        inputMode="numeric"
        fault={faultOf('priority')}
        disabled={!share.isNamed}
        value={share.priority}
        onChange={(event) => onChange({ priority: event.target.value })}
      />
    </div>
  );
}
