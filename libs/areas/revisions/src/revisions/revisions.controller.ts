import { Controller, Param, Query } from '@nestjs/common';
import { CurrentPrincipal, Page, Route, type PageRequest, type Principal } from '@slipway/platform-http';
import { RevisionDiffDto, RevisionDto, RevisionFilterDto, RevisionListDto } from './revision.dto.js';
import { RevisionsService } from './revisions.service.js';

@Controller()
export class RevisionsController {
  constructor(private readonly revisions: RevisionsService) {}

  @Route({
    method: 'GET',
    path: '/deployments/:name/revisions',
    scope: 'viewer',
    tag: 'Revisions',
    operationId: 'listRevisions',
    summary: 'List deployment revisions',
    description:
      'Returns the immutable revisions of the deployment, newest first. `state` shows whether a revision serves, is kept warm, was retired or failed.',
    ok: { 200: RevisionListDto },
    errors: ['deployment_not_found'],
    paged: true,
  })
  list(
    @CurrentPrincipal() principal: Principal,
    @Param('name') name: string,
    @Query() filter: RevisionFilterDto,
    @Page('integer') page: PageRequest,
  ) {
    return this.revisions.list(principal, name, filter, page);
  }

  @Route({
    method: 'GET',
    path: '/deployments/:name/revisions/:revision',
    scope: 'viewer',
    tag: 'Revisions',
    operationId: 'getRevision',
    summary: 'Inspect a revision',
    description:
      'Finds the revision by id, number or name. Returns its spec with defaults filled in, its source and its state. If it failed, `message` contains the reason.',
    ok: { 200: RevisionDto },
    errors: ['deployment_not_found', 'revision_not_found'],
  })
  get(@CurrentPrincipal() principal: Principal, @Param('name') name: string, @Param('revision') revision: string) {
    return this.revisions.get(principal, name, revision);
  }

  @Route({
    method: 'GET',
    path: '/deployments/:name/revisions/:a/diff/:b',
    scope: 'viewer',
    tag: 'Revisions',
    operationId: 'diffRevisions',
    summary: 'Compare two revision specs',
    description: 'Returns a JSON Patch (RFC 6902) that turns the spec of the first revision into that of the second.',
    ok: { 200: RevisionDiffDto },
    errors: ['deployment_not_found', 'revision_not_found'],
  })
  diff(
    @CurrentPrincipal() principal: Principal,
    @Param('name') name: string,
    @Param('a') from: string,
    @Param('b') to: string,
  ) {
    return this.revisions.diff(principal, name, from, to);
  }
}
