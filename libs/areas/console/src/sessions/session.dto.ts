import { StringField } from '@slipway/platform-http';
import type { SignInMethod } from './console-session.entity.js';

export class SignInDto {
  @StringField({ min: 1, max: 1024, description: 'An API token.' })
  token: string;
}

/** What `GET /console/session` tells of the ways in, and of the session if there is one. */
export type SessionAnswer = {
  methods: SignInMethod[];
  /** Where the inference gateway is, for programs. */
  gateway: string;
  /** The name of the installation's hosted identity provider. */
  identity_provider: string;
} & ({ signed_in: false } | { signed_in: true; method: SignInMethod; csrf: string; expires_at: string | null });
