/**
 * The resources in the paths of the API, by the segment before the placeholder: `/deployments/{name}`. The examples
 * exist in a fresh stack once the example bodies were sent; ids have the right form and belong to nothing.
 */
export const PATH_RESOURCES: Readonly<Record<string, { description: string; example: string }>> = {
  deployments: { description: 'The deployment, by name.', example: 'chat' },
  revisions: { description: 'The revision, by id, number or name.', example: 'chat-00001' },
  diff: { description: 'The revision to compare with, by id, number or name.', example: 'chat-00001' },
  operations: { description: 'The operation, by id: `operation.id` of a 202.', example: idOf('op') },
  plans: { description: 'The plan, by id.', example: idOf('plan') },
  versions: { description: 'The version of the policy, by its number.', example: '1' },
  sandboxes: { description: 'The sandbox, by id.', example: idOf('sbx') },
  references: { description: 'The reference to an external sandbox, by id.', example: idOf('sbr') },
  products: { description: 'The model API product, by id.', example: idOf('prd') },
  publications: { description: 'The publication, by id.', example: idOf('pub') },
  'target-bindings': { description: 'The target binding, by id.', example: idOf('bnd') },
  'model-api-catalog': {
    description: 'The model API, by id, or by slug with `%2F` for the slash.',
    example: idOf('prd'),
  },
  'context-passports': {
    description: 'The passport, by id: `x-context-passport` of an inference response.',
    example: 'cp_6f1ed002ab5595859014ebf0951522d9',
  },
  access: { description: 'The mapping of a hosted identity, by id.', example: idOf('cac') },
  tenants: { description: 'The tenant, by id.', example: idOf('ten') },
  tokens: { description: 'The token, by id; never its secret.', example: idOf('tok') },
  webhooks: { description: 'The webhook, by id.', example: idOf('whk') },
  deliveries: { description: 'The delivery, by the id of its event.', example: idOf('evt') },
};

function idOf(prefix: string): string {
  return `${prefix}_0190f5c27bd87cc0a6b7d2f5e1a3c4d5`;
}
