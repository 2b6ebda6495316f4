import type { RevisionSpec } from '@slipway/contracts';
import { errors, mergePatch, newFindings, readObject, warnUnknown } from '@slipway/platform-http';
import { RevisionSpecDto } from '@slipway/ports/revisions';

/** The spec that a patch makes of a base, checked like one that was sent whole. Throws `validation_failed` (422). */
export function patchedSpec(base: RevisionSpec, patch: Record<string, unknown>, path = 'spec_patch'): RevisionSpec {
  const findings = newFindings();
  const dto = readObject(RevisionSpecDto, mergePatch(base, patch) as object, path, findings) as RevisionSpecDto;
  warnUnknown(findings.unknown);
  const details = [...findings.mistyped, ...findings.broken];
  if (details.length > 0) throw errors.validation_failed({ details });
  return completeSpec(dto);
}

/** A spec with every default written out, so that equal deployments have equal digests. */
export function completeSpec(dto: RevisionSpecDto): RevisionSpec {
  return withoutUndefined({
    model: { ...dto.model },
    runtime: {
      target: dto.runtime.target,
      engine: dto.runtime.engine,
      args: dto.runtime.args ?? {},
      env: dto.runtime.env ?? {},
    },
    endpoint: dto.endpoint && { ...dto.endpoint },
    resources: dto.resources && { ...dto.resources },
    scaling: { ...dto.scaling, min_replicas: dto.scaling?.min_replicas ?? 1 },
    probes: dto.probes && { ...dto.probes },
  }) as RevisionSpec;
}

function withoutUndefined(value: unknown): unknown {
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(kept.map(([key, member]) => [key, withoutUndefined(member)]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
