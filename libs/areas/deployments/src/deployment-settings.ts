import type { MediaUrls } from '@slipway/contracts';
import { patchedFields } from '@slipway/platform-http';
import type { DeploymentSettings, Protection } from '@slipway/ports/deployment-records';
import { DeploymentSettingsDto } from './deployment-settings.dto.js';

/** The settings of a deployment as answers show them. A new setting is a field here, in the port and in both DTOs. */
export interface ShownSettings {
  display_name: string | null;
  description: string | null;
  labels: Record<string, string>;
  environment: string | null;
  default_strategy: object | null;
  default_analysis: object | null;
  revision_history_limit: number;
  protection: Protection;
  scaling: object | null;
  drain_seconds: number;
  media_urls: MediaUrls;
}

export function shownSettings(stored: DeploymentSettings): ShownSettings {
  return {
    display_name: stored.displayName,
    description: stored.description,
    labels: stored.labels,
    environment: stored.environment,
    default_strategy: stored.defaultStrategy,
    default_analysis: stored.defaultAnalysis,
    revision_history_limit: stored.revisionHistoryLimit,
    protection: stored.protection,
    scaling: stored.scaling,
    drain_seconds: stored.drainSeconds,
    media_urls: stored.mediaUrls,
  };
}

export function storedSettings(settings: DeploymentSettingsDto | ShownSettings): DeploymentSettings {
  return {
    displayName: settings.display_name ?? null,
    description: settings.description ?? null,
    labels: settings.labels,
    environment: settings.environment ?? null,
    defaultStrategy: settings.default_strategy ?? null,
    defaultAnalysis: settings.default_analysis ?? null,
    revisionHistoryLimit: settings.revision_history_limit,
    protection: settings.protection,
    scaling: withoutEmpty(settings.scaling),
    drainSeconds: settings.drain_seconds,
    mediaUrls: settings.media_urls,
  };
}

/** Applies a merge patch to settings. @throws validation_failed (422) if the result breaks a rule */
export function patchedSettings(before: ShownSettings, patch: object): ShownSettings {
  return patchedFields(before, patch, {
    type: DeploymentSettingsDto,
    toFields: (dto) => shownSettings(storedSettings(plain(dto))),
    remediation:
      'Correct the fields in details. A merge patch changes only the fields that it contains; null removes a field.',
  });
}

/** Returns the first field of the protection that the change lowers, if there is one. */
export function loweredProtection(before: Protection, after: Protection): keyof Protection | undefined {
  if (before.deletion && !after.deletion) return 'deletion';
  return before.rollouts !== 'any' && after.rollouts === 'any' ? 'rollouts' : undefined;
}

/** An override without fields is null. */
function withoutEmpty(scaling: object | null | undefined): object | null {
  return scaling && Object.keys(scaling).length > 0 ? scaling : null;
}

/** Returns a DTO as the JSON from which it was read, without undefined fields. */
export function plain<T extends object>(dto: T): T {
  return JSON.parse(JSON.stringify(dto)) as T;
}
