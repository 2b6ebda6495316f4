import { request as creation } from 'request:createModelApiProduct';
import { request as deletion } from 'request:deleteModelApiProduct';
import { request as change } from 'request:updateModelApiProduct';
import { request as withdrawal } from 'request:withdrawModelApiPublication';
import { defineAction, type Action } from '../../actions/action.js';
import { slipway } from '../../api/client.js';
import type { Product, Publication } from '../../api/items.js';
import { CREATE_PRODUCT, UPDATE_PRODUCT } from './layouts.js';

const { products, publications } = slipway.admin.modelApi;

export const createProduct = (onCreated: (slug: string) => void): Action =>
  defineAction<'createModelApiProduct'>()({
    request: creation,
    verb: 'Create',
    button: 'Create product',
    title: () => 'New product',
    description: 'A new product is a draft. Clients cannot use it until it is published.',
    layout: () => CREATE_PRODUCT,
    value: () => ({ modalities: ['text'] }),
    cli: { words: 'products create', args: ['slug'] },
    run: (_, body) => products.create(body),
    done: ({ slug }) => `Product ${slug} created as a draft`,
    onDone: ({ slug }) => onCreated(slug),
  });

export const productActions = (onDeleted: () => void): Action<Product>[] => [
  defineAction<'updateModelApiProduct'>()<Product>({
    request: change,
    verb: 'Save',
    button: 'Edit',
    title: ({ slug }) => `Edit ${slug}`,
    description:
      'The catalog shows the new values at once. Qualify its bindings again after a change of context length.',
    layout: () => UPDATE_PRODUCT,
    value: (product) => product,
    isPatch: true,
    etag: ({ etag }) => etag,
    cli: { words: 'products update' },
    run: ({ id }, body, options) => products.update(id, body, options),
    done: ({ slug }) => `${slug} changed`,
  }),
  defineAction<'deleteModelApiProduct'>()<Product>({
    request: deletion,
    verb: 'Delete',
    isDangerous: true,
    title: ({ slug }) => `Delete ${slug}?`,
    nameToType: ({ slug }) => slug,
    effect: () => (
      <p>
        The slug becomes free, and ended publications are deleted with the product. Withdraw it and delete its bindings
        first.
      </p>
    ),
    cli: { words: 'products delete', end: '--yes' },
    run: ({ id }) => products.delete(id),
    done: () => 'Product deleted',
    onDone: onDeleted,
  }),
];

export const WITHDRAW = defineAction<'withdrawModelApiPublication'>()<Publication>({
  request: withdrawal,
  verb: 'Withdraw',
  isDangerous: true,
  title: ({ slug, version }) => `Withdraw version ${version} of ${slug}?`,
  nameToType: ({ slug }) => slug,
  effect: ({ slug }) => (
    <p>
      Clients that send <code>{slug}</code> get 404 model_not_found from now on. Its bindings stay qualified, so you can
      publish it again.
    </p>
  ),
  cli: { words: 'publications withdraw', end: '--yes' },
  run: ({ id }) => publications.withdraw(id),
  done: ({ slug }) => `${slug} withdrawn`,
});
