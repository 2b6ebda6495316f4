import { Body, Controller, Param, Query } from '@nestjs/common';
import { CurrentPrincipal, Page, Route, type PageOf, type PageRequest, type Principal } from '@slipway/platform-http';
import type { TokenRow } from '@slipway/platform-http/auth';
import {
  CreatedTokenDto,
  CreateTokenDto,
  RotatedTokenDto,
  RotateTokenDto,
  TokenDto,
  TokenFilterDto,
  TokenListDto,
  WhoAmIDto,
} from './token.dto.js';
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
      'Returns the secret in `token`. It is shown only once, because only its hash is stored. The token expires after 90 days unless `expires_at` or `expires_in` is given. It cannot have more scopes than its creator, and no usable token of the tenant can have the same name.',
    example: { name: 'ci', scopes: ['operator'] },
    ok: { 201: CreatedTokenDto },
    errors: ['token_exists', 'quota_exceeded'],
    secrets: ['token'],
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
    description: 'Returns tokens with their scopes and the time of their last use, never with their secret.',
    ok: { 200: TokenListDto },
    paged: true,
    byTime: true,
  })
  list(
    @CurrentPrincipal() who: Principal,
    @Query() filter: TokenFilterDto,
    @Page('string') page: PageRequest,
  ): Promise<PageOf<TokenRow>> {
    return this.tokens.list(who, filter, page);
  }

  @Route({
    method: 'DELETE',
    path: '/tokens/:id',
    scope: 'admin',
    tag: 'Identity',
    operationId: 'revokeToken',
    summary: 'Revoke an API token',
    description: 'Applies from the next request. Revoking a token again returns the same response.',
    ok: { 200: TokenDto },
    errors: ['token_not_found', 'last_admin'],
  })
  revoke(@CurrentPrincipal() who: Principal, @Param('id') id: string): Promise<TokenRow> {
    return this.tokens.revoke(who, id);
  }

  @Route({
    method: 'POST',
    path: '/tokens/:id/rotate',
    scope: 'admin',
    tag: 'Identity',
    operationId: 'rotateToken',
    summary: 'Rotate an API token',
    description:
      'Creates a token with the name, the scopes and the owner of this one, and returns its secret in `token`, once. The old token stays usable for `overlap_seconds`, so that its users can change over. The new one lives as long as the old one was made for, unless `expires_at` or `expires_in` is given. Its `minters` also name the caller, who learns the secret. A token is rotated once; rotate its replacement the next time.',
    example: { overlap_seconds: 3600 },
    ok: { 201: RotatedTokenDto },
    errors: ['token_not_found', 'token_not_rotatable', 'quota_exceeded'],
    secrets: ['token'],
    notFoundFirst: TokensService,
  })
  rotate(
    @CurrentPrincipal() who: Principal,
    @Param('id') id: string,
    @Body() dto: RotateTokenDto,
  ): Promise<RotatedTokenDto> {
    return this.tokens.rotate(who, id, dto);
  }

  @Route({
    method: 'GET',
    path: '/whoami',
    scope: 'viewer',
    tag: 'Identity',
    operationId: 'whoAmI',
    summary: 'Show the caller',
    description:
      'Returns tenant, actor, owner and scopes of the caller. Use it to check that a token works and what it may do.',
    ok: { 200: WhoAmIDto },
  })
  whoAmI(@CurrentPrincipal() who: Principal): WhoAmIDto {
    const tenant = { id: who.tenantId, name: who.tenantName, is_operator: who.isOperatorTenant };
    return { tenant, actor: who.actor, owner: who.owner, scopes: [...who.scopes] };
  }
}
