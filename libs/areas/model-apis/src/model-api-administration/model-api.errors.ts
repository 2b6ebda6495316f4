import { defineErrors } from '@slipway/platform-http';

export const modelApiErrors = defineErrors({
  product_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such model API product.',
    remediation: 'List products with GET /api/v1/admin/model-api/products.',
  },
  target_binding_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such target binding.',
    remediation: 'List target bindings with GET /api/v1/admin/model-api/target-bindings.',
  },
  publication_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such publication.',
    remediation: 'List publications with GET /api/v1/admin/model-api/publications.',
  },
  slug_not_yours: {
    status: 403,
    category: 'permission',
    message: "This slug does not begin with the tenant's name.",
    remediation:
      'Use the name of the tenant as the vendor of the slug. Only the operator tenant can use other vendors.',
  },
  audience_not_yours: {
    status: 403,
    category: 'permission',
    message: 'Only the operator tenant can publish to other tenants.',
    remediation: 'Publish with visibility `tenant` and without other tenants, or ask the operator to publish.',
  },
  product_exists: {
    status: 409,
    category: 'conflict',
    message: 'This slug is already in use.',
    remediation: 'Choose another slug.',
  },
  product_in_use: {
    status: 409,
    category: 'conflict',
    message: 'The product has a publication or bindings.',
    remediation: 'Withdraw the publication and delete the bindings in `used_by` first.',
  },
  target_binding_in_use: {
    status: 409,
    category: 'conflict',
    message: 'The current publication of the product has this binding.',
    remediation: 'Publish the product without the binding, or withdraw the publication in `used_by`.',
  },
  binding_exists: {
    status: 409,
    category: 'conflict',
    message: 'This product is already bound to this target.',
    remediation: 'Use the existing binding.',
  },
  server_already_bound: {
    status: 409,
    category: 'conflict',
    message: 'Another revision is already bound to this server, which accepts any model name.',
    remediation:
      'Bind that revision, or run this one on its own server. Otherwise, traffic for both would reach one model.',
  },
  binding_not_qualified: {
    status: 409,
    category: 'conflict',
    message: 'A binding of the publication cannot serve the product.',
    remediation: 'Qualify each binding in `details` with POST /api/v1/admin/model-api/target-bindings/{id}/qualify.',
  },
  publication_superseded: {
    status: 409,
    category: 'conflict',
    message: 'A later publication has superseded this one.',
    remediation: 'Withdraw the current publication of the product.',
  },
});
