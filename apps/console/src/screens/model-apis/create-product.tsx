import { useState } from 'react';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { TextArea, TextField } from '../../ui/field.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { productAction, productBody, type NewProduct, type ProductFields } from './requests.js';

const EMPTY: ProductFields = {
  slug: '',
  display_name: '',
  description: '',
  modalities: 'text',
  context_length: '',
  max_output_tokens: '',
  supported_parameters: '',
  currency: '',
  input_per_mtok: '',
  output_per_mtok: '',
};

export function CreateProduct({ onClose, onCreated }: { onClose: () => void; onCreated: (slug: string) => void }) {
  const [fields, setFields] = useState(EMPTY);
  const create = useAction({
    run: (body: NewProduct) => slipway.admin.modelApi.products.create(body),
    renews: [['model-api-products']],
    done: ({ slug }) => `${slug} is a draft`,
    onDone: ({ slug }) => {
      onCreated(slug);
      onClose();
    },
  });
  const body = productBody(fields);
  const field = (name: keyof ProductFields) => ({
    value: fields[name],
    autoComplete: 'off',
    onChange: (event: { target: { value: string } }) => setFields({ ...fields, [name]: event.target.value }),
  });
  return (
    <FormDialog
      title="New product"
      description="A draft: nobody is served before it is published."
      verb="Create"
      onClose={onClose}
      isComplete={body.slug !== ''}
      isBusy={create.isPending}
      error={create.error}
      action={productAction(body)}
      onSubmit={() => create.mutate(body)}
    >
      <TextField
        label="Slug"
        hint="vendor/model: what clients send as model. The vendor is the tenant's name, save for the operator tenant."
        placeholder="acme/chat"
        required
        maxLength={190}
        {...field('slug')}
      />
      <TextField label="Display name" hint="The slug unless given." maxLength={255} {...field('display_name')} />
      <TextArea label="Description" rows={2} maxLength={4000} {...field('description')} />
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField
          label="Context length"
          hint="Tokens."
          inputMode="numeric"
          maxLength={12}
          {...field('context_length')}
        />
        <TextField label="Max output tokens" inputMode="numeric" maxLength={12} {...field('max_output_tokens')} />
        <TextField
          label="Modalities"
          hint="text, image, audio, video, embedding, file"
          maxLength={255}
          {...field('modalities')}
        />
        <TextField
          label="Supported parameters"
          hint="temperature, tools"
          maxLength={4000}
          {...field('supported_parameters')}
        />
      </div>
      <fieldset className="grid gap-3 sm:grid-cols-3">
        <legend className="mb-1 text-sm font-medium">Price of a million tokens</legend>
        <TextField label="Currency" placeholder="USD" maxLength={3} {...field('currency')} />
        <TextField label="Input" inputMode="decimal" maxLength={16} {...field('input_per_mtok')} />
        <TextField label="Output" inputMode="decimal" maxLength={16} {...field('output_per_mtok')} />
      </fieldset>
    </FormDialog>
  );
}
