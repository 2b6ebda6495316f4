import { Body, Controller, Param } from '@nestjs/common';
import { CurrentPrincipal, Page, Route, type PageOf, type PageRequest, type Principal } from '@slipway/platform-http';
import type { TokenRow } from '@slipway/platform-http/auth';
import { CreatedTokenDto, CreateTokenDto, TokenDto, TokenListDto, WhoAmIDto } from './token.dto.js';
import { TokensService } from './tokens.service.js';

@Controller()
export class TokensController {
  constructor(private readonly tokens: TokensService) {}

  @Route({
    method: 'POST',
    path: '/tokens',
    scope: 'admin',
    tag: 'Identity',
    operationId: 'createToken',
    summary: 'Create an API token',
    description:
      '`token` of the answer is the secret; it is shown this once and only its hash is stored. It ends after 90 days unless `expires_at` says otherwise, and grants no more than its maker has.',
    example: { name: 'ci', scopes: ['operator'] },
    ok: { 201: CreatedTokenDto },
    errors: ['quota_exceeded'],
  })
  create(@CurrentPrincipal() who: Principal, @Body() dto: CreateTokenDto): Promise<CreatedTokenDto> {
    return this.tokens.create(who, dto);
  }

  @Route({
    method: 'GET',
    path: '/tokens',
    scope: 'admin',
    tag: 'Identity',
    operationId: 'listTokens',
    summary: 'List API tokens, newest first',
    description: 'With their scopes and when they were last used, never with their secret.',
    ok: { 200: TokenListDto },
    paged: true,
  })
  list(@CurrentPrincipal() who: Principal, @Page('string') page: PageRequest): Promise<PageOf<TokenRow>> {
    return this.tokens.list(who, page);
  }

  @Route({
    method: 'DELETE',
    path: '/tokens/:id',
    scope: 'admin',
    tag: 'Identity',
    operationId: 'revokeToken',
    summary: 'Revoke an API token',
    description: 'Holds at the next request. Revoking again answers the same.',
    ok: { 200: TokenDto },
    errors: ['token_not_found', 'last_admin'],
  })
  revoke(@CurrentPrincipal() who: Principal, @Param('id') id: string): Promise<TokenRow> {
    return this.tokens.revoke(who, id);
  }

  @Route({
    method: 'GET',
    path: '/whoami',
    scope: 'viewer',
    tag: 'Identity',
    operationId: 'whoAmI',
    summary: 'Show tenant, actor, owner and scopes of the caller',
    description: 'The quickest way to see that a token works, and what it may do.',
    ok: { 200: WhoAmIDto },
  })
  whoAmI(@CurrentPrincipal() who: Principal): WhoAmIDto {
    const tenant = { id: who.tenantId, name: who.tenantName, is_operator: who.isOperatorTenant };
    return { tenant, actor: who.actor, owner: who.owner, scopes: [...who.scopes] };
  }
}
