import { isSlipwayError } from '@slipway/sdk';

/** Why somebody is the last admin although others seem to be there. */
export function LastAdminNote({ error }: { error: unknown }) {
  if (!isSlipwayError(error, 'last_admin')) return null;
  return (
    <p className="text-sm">
      Admins are active tokens and identities with the scope admin. An identity counts only if hosted sign-in is
      configured and its organization is assigned to this tenant, because other identities cannot sign in.
    </p>
  );
}
