import { request } from 'request:createModelApiProduct';
import { useAction } from '../../api/action.js';
import { slipway } from '../../api/client.js';
import { SchemaDialog } from '../../forms/schema-dialog.js';
import { useSchemaForm } from '../../forms/use-schema-form.js';
import { CREATE_PRODUCT } from './layouts.js';
import { productAction, type NewProduct } from './requests.js';

export function CreateProduct({ onClose, onCreated }: { onClose: () => void; onCreated: (slug: string) => void }) {
  const form = useSchemaForm<NewProduct>(request, CREATE_PRODUCT, { value: { modalities: ['text'] } });
  const create = useAction({
    run: (body: NewProduct) => slipway.admin.modelApi.products.create(body),
    renews: [['model-api-products']],
    done: ({ slug }) => `${slug} is a draft`,
    onDone: ({ slug }) => {
      onCreated(slug);
      onClose();
    },
  });
  return (
    <SchemaDialog
      form={form}
      run={create}
      title="New product"
      description="A draft: nobody is served before it is published."
      verb="Create"
      onClose={onClose}
      action={productAction(form.body)}
    />
  );
}
