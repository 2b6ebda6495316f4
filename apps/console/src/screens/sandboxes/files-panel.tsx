import { Link } from '@tanstack/react-router';
import { createColumnHelper } from '@tanstack/react-table';
import { Download } from 'lucide-react';
import { ResourcePanel } from '../../actions/resource-panel.js';
import { API_ROOT, slipway } from '../../api/client.js';
import type { Sandbox, SandboxFile } from '../../api/items.js';
import { usePagedList } from '../../api/paged-list.js';
import { Chip } from '../../ui/chip.js';
import { CopyButton } from '../../ui/copy.js';
import { Time } from '../../ui/time.js';
import { bytesText } from './file-names.js';
import { downloadCli, filePath, nameOf } from './file-requests.js';
import { fileActions } from './sandbox-actions.js';

export function FilesPanel({ sandbox: { id, reference_id, workspace } }: { sandbox: Sandbox }) {
  const list = usePagedList(['sandbox', id, 'files'], (page) => slipway.sandboxes.files.list(id, page), {
    isByTime: false,
  });
  return (
    <ResourcePanel
      title="Files"
      note={<span className="text-xs text-soft">{workspace.file_count}</span>}
      what="files"
      list={list}
      columns={columnsOf(reference_id !== null)}
      idOf={({ path }) => path}
      nameOf={({ path }) => path}
      command={`slipway files list ${id}`}
      empty={{
        title: 'No files yet',
        command: `slipway files put ${id} hello.txt --content hello`,
        text: 'Upload a file to store it here. Slipway does not run files.',
      }}
      needs="operator"
      actions={fileActions(id)}
      views={(file) => <FileViews sandbox={id} file={file} />}
      renews={[['sandbox', id], ['sandboxes']]}
    />
  );
}

const column = createColumnHelper<SandboxFile>();

const columnsOf = (isPassedOn: boolean) => [
  column.accessor('path', {
    header: 'Path',
    cell: ({ getValue }) => <code className="inline-block min-w-32 text-xs break-all">{getValue()}</code>,
  }),
  column.accessor('size_bytes', {
    header: 'Size',
    cell: ({ getValue }) => <span className="whitespace-nowrap">{bytesText(getValue())}</span>,
  }),
  column.accessor('mode', { header: 'Mode', cell: ({ getValue }) => <code className="text-xs">{getValue()}</code> }),
  column.accessor('modified_at', { header: 'Modified', cell: ({ getValue }) => <Time at={getValue()} /> }),
  ...(isPassedOn
    ? [column.accessor('sync', { header: 'Sync', cell: ({ row: { original } }) => <Sync file={original} /> })]
    : []),
];

/** Shows whether the external sandbox has it. */
function Sync({ file: { sync, sync_error, sync_operation_id } }: { file: SandboxFile }) {
  return (
    <span className="inline-flex flex-wrap items-center gap-1">
      <Chip word={sync} />
      {sync_operation_id && (
        <Link to="/operations/$id" params={{ id: sync_operation_id }} className="text-xs underline">
          Operation
        </Link>
      )}
      {sync_error && <span className="block w-full text-xs break-words text-bad">{sync_error}</span>}
    </span>
  );
}

function FileViews({ sandbox, file: { path, sha256 } }: { sandbox: string; file: SandboxFile }) {
  return (
    <span className="inline-flex items-center gap-1">
      <a
        // The browser writes it to the disk as it arrives; it is never shown as a page.
        href={API_ROOT + filePath(sandbox, { path })}
        download={nameOf(path)}
        aria-label={`Download ${path}`}
        className="inline-flex min-h-7 items-center gap-1.5 rounded-md border border-line-strong px-2 text-xs font-medium hover:bg-sunken"
      >
        <Download aria-hidden className="size-3.5" />
        Download
      </a>
      <CopyButton text={downloadCli(sandbox, path)} label={`Copy as CLI: download ${path}`}>
        CLI
      </CopyButton>
      <CopyButton text={sha256} label={`Copy the SHA-256 of ${path}`}>
        SHA-256
      </CopyButton>
    </span>
  );
}
