import { Logger } from '@nestjs/common';
import { errors as jose, jwtVerify, type JWTHeaderParameters, type JWTPayload } from 'jose';
import { errors, isStorable, SlipwayError } from '@slipway/platform-http';
import type { ProviderKeys } from './provider-keys.js';

/**
 * Asymmetric ones only: with HS256 anyone who knows the public key could sign, and `none` needs no signature at all.
 */
export const JWT_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];
/** Access tokens as RFC 9068 types them, and the plain JWT of many providers. */
const TYPES = new Set(['jwt', 'at+jwt']);
/** Clocks differ a little. */
const LEEWAY_SECONDS = 10;
const MAX_ID_CHARACTERS = 255;
/** The end of the year 9999. */
const MAX_DATE_MS = Date.UTC(9999, 11, 31);

/** The person that a provider's token represents. */
export interface HostedIdentity {
  organizationId: string;
  userId: string;
  /** The end of the token, with the leeway of its check. */
  expiresAt: Date;
}

export interface HostedTokenRules {
  issuer: string;
  audience: string;
}

const logger = new Logger('identity');

/**
 * Checks a provider's JWT as RFC 8725 requires: signature by one of its keys, algorithm, issuer, audience, type, times.
 * @throws unauthenticated, token_expired (401); unavailable (503) if the keys cannot be fetched
 */
export async function identityOf(
  token: string,
  keys: Pick<ProviderKeys, 'find'>,
  rules: HostedTokenRules,
): Promise<HostedIdentity> {
  const { payload, protectedHeader } = await verify(token, keys, rules);
  if (!TYPES.has(typeOf(protectedHeader))) throw errors.unauthenticated();
  const { sub: userId, org_id: organizationId, exp } = payload;
  if (!isId(userId) || !isId(organizationId)) throw errors.unauthenticated();
  return { organizationId, userId, expiresAt: endOf(exp!) };
}

async function verify(
  token: string,
  keys: Pick<ProviderKeys, 'find'>,
  rules: HostedTokenRules,
): Promise<{ payload: JWTPayload; protectedHeader: JWTHeaderParameters }> {
  try {
    return await jwtVerify(token, (header, input) => keys.find(header, input), {
      ...rules,
      algorithms: JWT_ALGORITHMS,
      clockTolerance: LEEWAY_SECONDS,
      requiredClaims: ['exp'],
    });
  } catch (refusal) {
    if (refusal instanceof SlipwayError) throw refusal;
    if (refusal instanceof jose.JWTExpired)
      throw errors.token_expired({ remediation: 'Sign in again at the identity provider.' });
    // The operator must know about a key of the provider that cannot be used, such as a short one.
    if (!(refusal instanceof jose.JOSEError))
      logger.warn(`Could not verify a token of the identity provider: ${String(refusal)}`);
    throw errors.unauthenticated({ cause: refusal });
  }
}

/** A provider may name a time that is no date. */
function endOf(exp: number): Date {
  return new Date(Math.min((exp + LEEWAY_SECONDS) * 1_000, MAX_DATE_MS));
}

/** RFC 7515 4.1.9: compared without case, and `application/` may be left out. */
function typeOf(header: JWTHeaderParameters): string {
  return typeof header.typ === 'string' ? header.typ.toLowerCase().replace(/^application\//, '') : '';
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && [...value].length <= MAX_ID_CHARACTERS && isStorable(value);
}
