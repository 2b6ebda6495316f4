import { Body, Controller, Req } from '@nestjs/common';
import { reply, Route, type Reply, type SlipwayRequest } from '@slipway/platform-http';
import { SignInDto, type SessionAnswer } from './session.dto.js';
import { SessionService } from './session.service.js';

@Controller()
export class SessionController {
  constructor(private readonly sessions: SessionService) {}

  @Route({
    method: 'GET',
    path: '//console/session',
    scope: 'public',
    tag: 'Identity',
    operationId: 'getConsoleSession',
    summary: 'Get the console session',
    ok: { 200: null },
  })
  async get(@Req() request: SlipwayRequest): Promise<Reply<SessionAnswer>> {
    const { answer, cookie } = await this.sessions.get(request);
    return reply(200, answer, cookie === undefined ? {} : { 'set-cookie': cookie });
  }

  @Route({
    method: 'POST',
    path: '//console/session',
    scope: 'public',
    tag: 'Identity',
    operationId: 'signInWithToken',
    summary: 'Sign in with API token',
    ok: { 200: null },
    maxBodyBytes: 16_384,
  })
  async signIn(@Req() request: SlipwayRequest, @Body() { token }: SignInDto): Promise<Reply<SessionAnswer>> {
    const { answer, cookie } = await this.sessions.signIn(request, token);
    return reply(200, answer, { 'set-cookie': cookie });
  }

  @Route({
    method: 'DELETE',
    path: '//console/session',
    scope: 'public',
    tag: 'Identity',
    operationId: 'signOut',
    summary: 'Sign out of the console',
    ok: { 204: null },
  })
  async signOut(@Req() request: SlipwayRequest): Promise<Reply<undefined>> {
    return reply(204, undefined, { 'set-cookie': await this.sessions.signOut(request) });
  }
}
