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
  slug_not_yours: {
    status: 403,
    category: 'permission',
    message: "This slug does not begin with the tenant's name.",
    remediation: "Use a slug whose vendor is the tenant's name; others are for the operator tenant.",
  },
  audience_not_yours: {
    status: 403,
    category: 'permission',
    message: 'Only the operator tenant publishes to other tenants.',
    remediation: 'Publish with visibility `tenant` and without other tenants, or ask the operator.',
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
  server_already_bound: {
    status: 409,
    category: 'conflict',
    message: 'Another revision is bound to this server, which answers to any model name.',
    remediation: 'Bind that revision, or run this one on a server of its own: traffic for both would reach one model.',
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
