import { isSlipwayError } from '@slipway/sdk';

/** Explains why a person is the last admin although there seem to be others. */
export function LastAdminNote({ error }: { error: unknown }) {
  if (!isSlipwayError(error, 'last_admin')) return null;
  return (
    <p className="text-sm">
      Admins are active tokens and identities with the scope admin. An identity counts only if hosted sign-in is
      configured and its organization is assigned to this tenant, because other identities cannot sign in.
    </p>
  );
}
