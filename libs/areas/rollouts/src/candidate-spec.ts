import type { RevisionSpec } from '@slipway/contracts';
import { errors, newFindings, readObject } from '@slipway/platform-http';
import { RevisionSpecDto } from '@slipway/ports/revisions';

/** RFC 7386: objects merge, null removes, everything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}

/** The spec that a patch makes of a base, checked like one that was sent whole. Throws `validation_failed` (422). */
export function patchedSpec(base: RevisionSpec, patch: Record<string, unknown>, path = 'spec_patch'): RevisionSpec {
  const findings = newFindings();
  const dto = readObject(RevisionSpecDto, mergePatch(base, patch) as object, path, findings) as RevisionSpecDto;
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
    scaling: { min_replicas: dto.scaling?.min_replicas ?? 1, max_replicas: dto.scaling?.max_replicas },
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
