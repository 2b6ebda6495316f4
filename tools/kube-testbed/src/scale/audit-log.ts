import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** One call as recorded by the API server. */
export interface AuditedCall {
  /** Name of the ServiceAccount, without its prefix. */
  user: string;
  verb: string;
  resource: string;
  status: number;
  /**
   * Milliseconds since the epoch. For a watch, the time when it was accepted; for any other call, the time of its
   * answer.
   */
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

/** Reviews of rights: they write nothing, and are sent all the time. */
const REVIEWS = new Set(['selfsubjectaccessreviews', 'selfsubjectrulesreviews']);
const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** Requests of ServiceAccounts to the API server. The bed itself and the controllers are not ServiceAccounts. */
export class AuditLog {
  private readonly calls: AuditedCall[] = [];
  private readBytes = 0;

  constructor(private readonly file: string) {}

  /** Calls since then; a line that is still being written counts at the next call. */
  since(from: number): AuditedCall[] {
    this.readOn();
    return this.calls.filter(({ at }) => at >= from);
  }

  /**
   * Lines are read only once. With a thousand deployments, the file has so many lines that frequent full reads would
   * take all the time.
   */
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

export const isWrite = ({ verb, resource }: AuditedCall): boolean => WRITES.has(verb) && !REVIEWS.has(resource);

/** The number of calls of each kind, such as `list pods`. */
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
