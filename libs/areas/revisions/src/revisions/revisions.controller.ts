import { Controller, Param } from '@nestjs/common';
import { CurrentPrincipal, Page, Route, type PageRequest, type Principal } from '@slipway/platform-http';
import { RevisionDiffDto, RevisionDto, RevisionListDto } from './revision.dto.js';
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
    summary: 'List the revisions of a deployment, newest first',
    description: 'Each is immutable. `state` says whether it serves, waits warm, was retired or failed.',
    ok: { 200: RevisionListDto },
    hot: true,
    errors: ['deployment_not_found'],
    paged: true,
  })
  list(@CurrentPrincipal() principal: Principal, @Param('name') name: string, @Page('integer') page: PageRequest) {
    return this.revisions.list(principal, name, page);
  }

  @Route({
    method: 'GET',
    path: '/deployments/:name/revisions/:revision',
    scope: 'viewer',
    tag: 'Revisions',
    operationId: 'getRevision',
    summary: 'Inspect one revision by id, number or name',
    description:
      'Its spec as it was rolled out, with defaults filled in, where it came from, and its state; `message` says why it failed.',
    ok: { 200: RevisionDto },
    hot: true,
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
    summary: 'Compare the specs of two revisions as a JSON Patch',
    description: '`patch` turns the spec of the first into that of the second (RFC 6902).',
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
