import { request as creation } from 'request:createTenant';
import { request as change } from 'request:updateTenant';
import { defineAction } from '../../actions/action.js';
import { slipway } from '../../api/client.js';
import type { Tenant } from '../../api/items.js';
import { CREATE_TENANT, UPDATE_TENANT } from './tenant-layout.js';

export const CREATE = defineAction<'createTenant'>()({
  request: creation,
  verb: 'Create',
  button: 'Create tenant',
  title: () => 'New tenant',
  layout: () => CREATE_TENANT,
  cli: { words: 'tenants create', args: ['name'] },
  run: (_, body) => slipway.tenants.create(body),
  secret: ({ name, token }) => ({
    title: `Tenant ${name}`,
    name: 'token',
    value: token,
    text: 'This is the first admin token of the tenant. Give it to the admin of the tenant. Slipway stores only its hash.',
  }),
});

const lostIn = (tenant: Tenant, { external_organization_ids: ids }: { external_organization_ids: string[] }) =>
  tenant.external_organization_ids.filter((id) => !ids.includes(id));

export const CHANGE_ORGANIZATIONS = defineAction<'updateTenant'>()<Tenant>({
  request: change,
  verb: 'Change',
  button: 'Change organizations',
  title: ({ name }) => `Organizations of ${name}`,
  layout: () => UPDATE_TENANT,
  value: (tenant) => tenant,
  isDangerousWith: (tenant, body) => lostIn(tenant, body).length > 0,
  effect: (tenant, body) => {
    const { length } = lostIn(tenant, body);
    return (
      length > 0 && (
        <p className="rounded-md bg-warn-soft p-3 text-warn">
          {length === 1 ? 'One organization is' : `${length} organizations are`} removed. Their users can no longer sign
          in to {tenant.name}.
        </p>
      )
    );
  },
  cli: { words: 'tenants update' },
  run: ({ id }, body) => slipway.tenants.update(id, body),
  done: ({ name }) => `Organizations of ${name} changed`,
});
