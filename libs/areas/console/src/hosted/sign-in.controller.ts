import { Controller, Query, Req } from '@nestjs/common';
import { reply, Route, type Reply, type SlipwayRequest } from '@slipway/platform-http';
import { SignInService, type SignInStep } from './sign-in.service.js';

@Controller()
export class SignInController {
  constructor(private readonly signIns: SignInService) {}

  @Route({
    method: 'GET',
    path: '//console/sign-in',
    scope: 'public',
    tag: 'Identity',
    operationId: 'beginSignIn',
    summary: 'Sign in with identity provider',
    ok: { 302: null },
  })
  async begin(@Req() request: SlipwayRequest, @Query('return_to') returnTo?: string): Promise<Reply> {
    return redirection(await this.signIns.begin(request, returnTo));
  }

  @Route({
    method: 'GET',
    path: '//console/callback',
    scope: 'public',
    tag: 'Identity',
    operationId: 'finishSignIn',
    summary: 'Finish a hosted sign-in',
    ok: { 302: null },
  })
  async finish(@Req() request: SlipwayRequest): Promise<Reply> {
    return redirection(await this.signIns.finish(request));
  }
}

function redirection({ location, cookies }: SignInStep): Reply {
  return reply(302, undefined, { location, 'set-cookie': cookies, 'referrer-policy': 'no-referrer' });
}
