import { Body, Controller, Param } from '@nestjs/common';
import { CurrentPrincipal, Route, type Principal } from '@slipway/platform-http';
import { CreatePassportDto, PassportDto } from './passport.dto.js';
import { PassportsService } from './passports.service.js';

@Controller()
export class PassportsController {
  constructor(private readonly passports: PassportsService) {}

  @Route({
    method: 'POST',
    path: '/context-passports',
    scope: 'operator',
    tag: 'Context Passport',
    operationId: 'createContextPassport',
    summary: 'Make a logical session known before its first request',
    description:
      'Gateways make passports by themselves; this one only comes first. The same session again is the same passport, renewed.',
    example: { deployment: 'chat', session_id: 'conversation-1' },
    ok: { 201: PassportDto },
    errors: ['deployment_not_found', 'quota_exceeded'],
  })
  create(@CurrentPrincipal() who: Principal, @Body() body: CreatePassportDto) {
    return this.passports.create(who, body);
  }

  @Route({
    method: 'GET',
    path: '/context-passports/:id',
    scope: 'viewer',
    tag: 'Context Passport',
    operationId: 'getContextPassport',
    summary: 'Inspect logical session identity and best-effort affinity',
    description:
      "Which revision and instance the session is bound to, and how often that held. Best effort: it follows the gateways by about a second. The session's key itself is never stored.",
    ok: { 200: PassportDto },
    errors: ['context_passport_not_found'],
  })
  get(@CurrentPrincipal() who: Principal, @Param('id') id: string) {
    return this.passports.get(who, id);
  }

  @Route({
    method: 'DELETE',
    path: '/context-passports/:id',
    scope: 'operator',
    tag: 'Context Passport',
    operationId: 'revokeContextPassport',
    summary: 'Revoke a context passport',
    description: 'From then on no gateway keeps the session in one place. Revoking it again answers the same.',
    ok: { 200: PassportDto },
    errors: ['context_passport_not_found'],
  })
  revoke(@CurrentPrincipal() who: Principal, @Param('id') id: string) {
    return this.passports.revoke(who, id);
  }
}
