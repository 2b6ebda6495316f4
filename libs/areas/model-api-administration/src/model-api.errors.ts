import { defineErrors } from '@slipway/platform-http';

export const modelApiErrors = defineErrors({
  product_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such model API product.',
    remediation: 'List them with GET /api/v1/admin/model-api/products.',
  },
  target_binding_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such target binding.',
    remediation: 'List them with GET /api/v1/admin/model-api/target-bindings.',
  },
  publication_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such publication.',
    remediation: 'List them with GET /api/v1/admin/model-api/publications.',
  },
  product_exists: {
    status: 409,
    category: 'conflict',
    message: 'This slug is taken.',
    remediation: 'Choose another slug.',
  },
  binding_exists: {
    status: 409,
    category: 'conflict',
    message: 'This product is already bound to this target.',
    remediation: 'Use the binding that exists.',
  },
  binding_not_qualified: {
    status: 409,
    category: 'conflict',
    message: 'A binding of the publication cannot serve the product.',
    remediation: 'Qualify each binding of `details` with POST /api/v1/admin/model-api/target-bindings/{id}/qualify.',
  },
  publication_superseded: {
    status: 409,
    category: 'conflict',
    message: 'A later publication has taken its place.',
    remediation: 'Withdraw the publication that is published.',
  },
});
