import type { Layout } from '../../forms/layout.js';

export const CREATE_PRODUCT: Layout = {
  operation: 'createModelApiProduct',
  shown: {
    '': [
      'slug',
      'display_name',
      'description',
      'modalities',
      'context_length',
      'max_output_tokens',
      'supported_parameters',
      'pricing',
    ],
  },
  words: {
    slug: { mismatch: 'vendor/model, in lowercase letters' },
    pricing: { label: 'Price per million tokens' },
    'pricing.input_per_mtok': { label: 'Input' },
    'pricing.output_per_mtok': { label: 'Output' },
    'pricing.currency': { mismatch: 'Three uppercase letters' },
  },
};

export const UPDATE_PRODUCT: Layout = {
  ...CREATE_PRODUCT,
  operation: 'updateModelApiProduct',
  shown: { '': CREATE_PRODUCT.shown['']!.filter((name) => name !== 'slug') },
  fixed: ['slug'],
};

/** The kind of a product's destination. */
type BoundKind = 'revision' | 'supplier';

const TARGET: Record<BoundKind, string[]> = {
  revision: ['deployment', 'revision'],
  supplier: ['supplier', 'base_url', 'model', 'credential'],
};

const bindingLayout = (kind: BoundKind): Layout => ({
  operation: 'createTargetBinding',
  shown: { '': ['target', 'limits'], target: TARGET[kind] },
  fixed: ['product_id', ...TARGET[kind === 'revision' ? 'supplier' : 'revision'].map((name) => `target.${name}`)],
  words: {
    target: { label: 'Destination' },
    'target.base_url': { label: 'Base URL' },
    'limits.max_rps': { label: 'Requests per second' },
    'limits.max_concurrency': { label: 'Concurrent requests' },
  },
});

export const BIND_REVISION = bindingLayout('revision');
export const BIND_SUPPLIER = bindingLayout('supplier');

/** The command has a flag for each part of the destination. */
export const CREATE_BINDING_CLI = {
  words: 'bindings create',
  args: ['product_id'],
  flags: {
    target: (target: Record<string, string>) =>
      Object.entries(target).flatMap(([name, value]) =>
        name === 'credential' ? ['--credential-file', '-'] : [`--${name.replaceAll('_', '-')}`, value],
      ),
  },
};

/** Only the operator tenant chooses the audience. */
export const publicationLayout = (isOperator: boolean): Layout => ({
  operation: 'createModelApiPublication',
  shown: { '': ['audience', 'notes'] },
  fixed: ['product_id', 'bindings', ...(isOperator ? [] : ['audience'])],
});

export const PUBLISH = publicationLayout(true);
