import { isSlipwayError } from '@slipway/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { sessionQuery } from '../../api/who.js';
import { objectionTo, pathIn, type WorkspaceCapacity } from './file-names.js';
import { putFile } from './put-file.js';

/** Of one drop, and in the list: who has more uses the command line. */
export const MOST_UPLOADS = 100;

export interface Upload {
  id: number;
  path: string;
  file: File;
  mayReplace: boolean;
  state: 'waiting' | 'sending' | 'done' | 'failed' | 'stopped';
  sent: number;
  error?: unknown;
}

export interface Uploads {
  uploads: Upload[];
  /** How many files of the last drop were left out. */
  leftOut: number;
  add: (files: Iterable<File>, folder: string, mayReplace: boolean, capacity: WorkspaceCapacity) => void;
  stop: (id: number) => void;
  again: (id: number, mayReplace: boolean) => void;
  clear: () => void;
}

const hasEnded = ({ state }: Upload): boolean => state !== 'waiting' && state !== 'sending';

/** Files on their way into a sandbox, one after the other: together they would only share the line. */
export function useUploads(sandbox: string): Uploads {
  const client = useQueryClient();
  const [uploads, setUploads] = useState<Upload[]>([]);
  const [leftOut, setLeftOut] = useState(0);
  const nextId = useRef(1);
  const sending = useRef<{ id: number; controller: AbortController } | undefined>(undefined);
  useEffect(() => () => sending.current?.controller.abort(), []);

  const change = (id: number, changed: Partial<Upload>) =>
    setUploads((now) => now.map((upload) => (upload.id === id ? { ...upload, ...changed } : upload)));

  const next = uploads.some(({ state }) => state === 'sending')
    ? undefined
    : uploads.find(({ state }) => state === 'waiting');
  useEffect(() => {
    if (!next || sending.current) return;
    const controller = new AbortController();
    const { id, path, file, mayReplace } = next;
    sending.current = { id, controller };
    change(id, { state: 'sending' });
    putFile({ sandbox, path, file, mayReplace, signal: controller.signal, onProgress: (sent) => change(id, { sent }) })
      .then(
        () => {
          change(id, { state: 'done', sent: file.size });
          void client.invalidateQueries({ queryKey: ['sandbox', sandbox] });
        },
        (error: unknown) => {
          change(id, controller.signal.aborted ? { state: 'stopped' } : { state: 'failed', error });
          if (isSlipwayError(error, 'unauthenticated'))
            void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
        },
      )
      .finally(() => {
        sending.current = undefined;
        // What waits is looked for again.
        setUploads((now) => [...now]);
      });
  });

  return {
    uploads,
    leftOut,
    add: (files, folder, mayReplace, capacity) => {
      const all = [...files];
      // What is replaced frees capacity of its own: then only the api knows it.
      let left = mayReplace ? capacity.limit : capacity.left;
      const added = all.slice(0, MOST_UPLOADS).map((file): Upload => {
        const objection = objectionTo(file, { ...capacity, left });
        if (objection === undefined && !mayReplace) left -= file.size;
        return {
          id: nextId.current++,
          path: pathIn(folder, file.name),
          file,
          mayReplace,
          sent: 0,
          ...(objection === undefined ? { state: 'waiting' } : { state: 'failed', error: new Error(objection) }),
        };
      });
      setLeftOut(Math.max(0, all.length - MOST_UPLOADS));
      setUploads((now) => [...now.filter((upload) => !hasEnded(upload)), ...added]);
    },
    stop: (id) => {
      if (sending.current?.id === id) sending.current.controller.abort();
      else change(id, { state: 'stopped' });
    },
    again: (id, mayReplace) => change(id, { state: 'waiting', sent: 0, mayReplace, error: undefined }),
    clear: () => setUploads((now) => now.filter((upload) => !hasEnded(upload))),
  };
}
