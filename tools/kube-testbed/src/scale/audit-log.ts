import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

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
  private readonly calls: AuditedCall[] = [];
  private readBytes = 0;

  constructor(private readonly file: string) {}

  /** Calls since then; a line that is still being written is for the next time. */
  since(from: number): AuditedCall[] {
    this.readOn();
    return this.calls.filter(({ at }) => at >= from);
  }

  /** What was read stays read: of a thousand deployments the file has so many lines that who asks often would do nothing else. */
  private readOn(): void {
    const file = openSync(this.file, 'r');
    try {
      const bytes = Buffer.alloc(fstatSync(file).size - this.readBytes);
      const count = readSync(file, bytes, 0, bytes.length, this.readBytes);
      const end = bytes.subarray(0, count).lastIndexOf('\n') + 1;
      this.readBytes += end;
      for (const line of bytes.toString('utf8', 0, end).split('\n').slice(0, -1)) {
        const call = callOf(JSON.parse(line) as AuditEvent);
        if (call) this.calls.push(call);
      }
    } finally {
      closeSync(file);
    }
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
