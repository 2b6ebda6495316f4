import { isSlipwayError } from '@slipway/sdk';

/** Why somebody is the last admin although others seem to be there. */
export function LastAdminNote({ error }: { error: unknown }) {
  if (!isSlipwayError(error, 'last_admin')) return null;
  return (
    <p className="text-sm">
      Admins are active tokens with the scope admin, and identities that were granted it. Identities count only where
      hosted sign-in is configured and their organization was given to this tenant: nobody else of them can come in.
    </p>
  );
}
