import { isSlipwayError } from '@slipway/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { sessionQuery } from '../../api/who.js';
import { objectionTo, pathIn, type WorkspaceCapacity } from './file-names.js';
import { putFile } from './put-file.js';

/** The limit of one drop and of the list: for more, use the command line. */
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

/** Uploads files into a sandbox one after the other: concurrent uploads would only share the connection. */
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
        // Renders again, so that the next waiting file starts.
        setUploads((now) => [...now]);
      });
  });

  return {
    uploads,
    leftOut,
    add: (files, folder, mayReplace, capacity) => {
      const all = [...files];
      // A replaced file frees its own capacity, so only the api knows the rest.
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
