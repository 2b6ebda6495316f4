import { Global, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { BEARER_AUTHENTICATORS, BearerAuthenticators, RequestGuard } from './request-guard.js';
import { TokenService, TokenUses } from './token.service.js';

/** Authentication for every route. The application must provide Database and CONFIG. */
@Global()
@Module({
  providers: [
    TokenService,
    TokenUses,
    RequestGuard,
    { provide: BEARER_AUTHENTICATORS, useClass: BearerAuthenticators },
  ],
  exports: [TokenService, RequestGuard, BEARER_AUTHENTICATORS],
})
export class AuthModule implements OnModuleInit {
  constructor(
    @Inject(BEARER_AUTHENTICATORS) private readonly authenticators: BearerAuthenticators,
    private readonly tokens: TokenService,
  ) {}

  onModuleInit(): void {
    this.authenticators.add(this.tokens);
  }
}
