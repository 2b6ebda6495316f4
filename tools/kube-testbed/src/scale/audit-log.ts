import { readFileSync } from 'node:fs';

/** One call as the API server noted it down. */
export interface AuditedCall {
  /** Name of the ServiceAccount, without what stands before it. */
  user: string;
  verb: string;
  resource: string;
  status: number;
  /** Milliseconds since the epoch. A watch counts from when it was granted, everything else from its answer. */
  at: number;
}

interface AuditEvent {
  stage: string;
  verb: string;
  user: { username: string };
  objectRef?: { resource?: string; subresource?: string };
  responseStatus?: { code?: number };
  stageTimestamp: string;
}

/** Questions whether one may do something: they write nothing, and come all the time. */
const REVIEWS = 'selfsubjectaccessreviews';
const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** What ServiceAccounts asked of the API server: the bed itself and the controllers are none. */
export class AuditLog {
  constructor(private readonly file: string) {}

  /** Calls since then; a line that is still being written is for the next time. */
  since(from: number): AuditedCall[] {
    const lines = readFileSync(this.file, 'utf8').split('\n').slice(0, -1);
    return lines.flatMap((line) => callOf(JSON.parse(line) as AuditEvent) ?? []).filter(({ at }) => at >= from);
  }
}

export const isWrite = ({ verb, resource }: AuditedCall): boolean => WRITES.has(verb) && resource !== REVIEWS;

/** How often each, as `list pods`. */
export function countsOf(calls: readonly AuditedCall[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { verb, resource } of calls) counts[`${verb} ${resource}`] = (counts[`${verb} ${resource}`] ?? 0) + 1;
  return counts;
}

function callOf({ stage, verb, user, objectRef, responseStatus, stageTimestamp }: AuditEvent): AuditedCall | undefined {
  if (stage !== (verb === 'watch' ? 'ResponseStarted' : 'ResponseComplete')) return undefined;
  const { resource = '', subresource } = objectRef ?? {};
  return {
    user: user.username.split(':').at(-1)!,
    verb,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    status: responseStatus?.code ?? 0,
    at: Date.parse(stageTimestamp),
  };
}
