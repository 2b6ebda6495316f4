import { Body, Controller, Param } from '@nestjs/common';
import {
  Conditions,
  CurrentPrincipal,
  Page,
  RehearsalDto,
  Route,
  ValidateOnly,
  type PageRequest,
  type Preconditions,
  type Principal,
} from '@slipway/platform-http';
import { PolicyDto, PolicyPageDto, SetPolicyDto } from './policy.dto.js';
import { PoliciesService } from './policies.service.js';

const PATH = '/deployments/:name/continual-optimization/policy';

@Controller()
export class PoliciesController {
  constructor(private readonly policies: PoliciesService) {}

  @Route({
    method: 'GET',
    path: PATH,
    scope: 'viewer',
    tag: 'Inference optimization',
    operationId: 'getContinualOptimizationPolicy',
    summary: 'Inspect the optimization policy',
    description:
      'Returns the current version, which new plans record and must comply with. Returns 404 `policy_not_found` if none was set.',
    ok: { 200: PolicyDto },
    errors: ['deployment_not_found', 'policy_not_found'],
  })
  get(@CurrentPrincipal() who: Principal, @Param('name') name: string) {
    return this.policies.get(who, name);
  }

  @Route({
    method: 'GET',
    path: '/deployments/:name/continual-optimization/policy/versions',
    scope: 'viewer',
    tag: 'Inference optimization',
    operationId: 'listContinualOptimizationPolicyVersions',
    summary: 'List policy versions',
    description:
      'Returns the versions of the optimization policy, newest first, each as it was in force. The newest 100 are kept. The list is empty if no policy was set.',
    ok: { 200: PolicyPageDto },
    errors: ['deployment_not_found'],
    paged: true,
  })
  versions(@CurrentPrincipal() who: Principal, @Param('name') name: string, @Page('integer') page: PageRequest) {
    return this.policies.versions(who, name, page);
  }

  @Route({
    method: 'GET',
    path: '/deployments/:name/continual-optimization/policy/versions/:version',
    scope: 'viewer',
    tag: 'Inference optimization',
    operationId: 'getContinualOptimizationPolicyVersion',
    summary: 'Inspect a policy version',
    description:
      'Returns one version of the optimization policy by its number, such as the one that a plan records as `policy_version`.',
    ok: { 200: PolicyDto },
    errors: ['deployment_not_found', 'policy_version_not_found'],
  })
  version(@CurrentPrincipal() who: Principal, @Param('name') name: string, @Param('version') version: string) {
    return this.policies.version(who, name, version);
  }

  @Route({
    method: 'PUT',
    path: PATH,
    scope: 'admin',
    tag: 'Inference optimization',
    operationId: 'setContinualOptimizationPolicy',
    summary: 'Set the optimization policy',
    description:
      'Replaces the whole policy: workload, evidence, experiment budget, reliability and promotion rules. Omitted fields get their defaults. Every version is kept. A body equal to the current version does not create a new one.',
    example: { mode: 'recommend', slos: [{ metric: 'ttft_ms', stat: 'p95', threshold: 200 }] },
    ok: { 200: [PolicyDto, RehearsalDto] },
    errors: ['deployment_not_found'],
    dryRun: true,
    conditional: true,
    notFoundFirst: PoliciesService,
  })
  set(
    @CurrentPrincipal() principal: Principal,
    @Param('name') deploymentName: string,
    @Body() body: SetPolicyDto,
    @Conditions() conditions: Preconditions,
    @ValidateOnly() isDryRun: boolean,
  ) {
    return this.policies.set({ principal, deploymentName, body, conditions, isDryRun });
  }
}
