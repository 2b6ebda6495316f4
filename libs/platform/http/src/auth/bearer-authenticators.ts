import { Injectable } from '@nestjs/common';
import type { Principal, SlipwayRequest } from '../index.js';

/** One way to recognise a bearer credential. */
export interface BearerAuthenticator {
  /** Whether the credential has this authenticator's form; says nothing about its validity. */
  accepts(credential: string): boolean;
  /** @throws unauthenticated, token_expired (401) or a 403 if the identity is known but not let in */
  authenticate(credential: string, request: SlipwayRequest): Promise<Principal>;
}

/** Nest token of the list; an area that brings a credential of its own injects it and adds to it at module init. */
export const BEARER_AUTHENTICATORS: unique symbol = Symbol('slipway.bearer-authenticators');

/** The ways to recognise a credential, asked in the order they were added. */
@Injectable()
export class BearerAuthenticators {
  private readonly authenticators: BearerAuthenticator[] = [];

  add(authenticator: BearerAuthenticator): void {
    this.authenticators.push(authenticator);
  }

  find(credential: string): BearerAuthenticator | undefined {
    return this.authenticators.find((authenticator) => authenticator.accepts(credential));
  }
}
