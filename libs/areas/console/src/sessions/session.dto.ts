import { StringField } from '@slipway/platform-http';
import type { SignInMethod } from './console-session.entity.js';

export class SignInDto {
  @StringField({ min: 1, max: 1024, description: 'An API token.' })
  token: string;
}

/** The answer of `GET /console/session`: the sign-in methods, and the session if there is one. */
export type SessionAnswer = {
  methods: SignInMethod[];
  /** Address of the inference gateway, for programs. */
  gateway: string;
  /** Name of the installation's hosted identity provider. */
  identity_provider: string;
} & ({ signed_in: false } | { signed_in: true; method: SignInMethod; csrf: string; expires_at: string | null });
