import { isSlipwayError } from '@slipway/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ActionButtons, useActions } from '../../actions/action-dialog.js';
import { slipway } from '../../api/client.js';
import type { Sandbox } from '../../api/items.js';
import { REFRESH_MS } from '../../api/query-client.js';
import { useMay } from '../../api/who.js';
import { Chip } from '../../ui/chip.js';
import { CopyButton } from '../../ui/copy.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Loaded } from '../../ui/loaded.js';
import { pairsText } from '../../ui/text/listed-text.js';
import { Panel, ScreenHead } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';
import { FilesPanel } from './files-panel.js';
import { CapacityBar } from './capacity-bar.js';
import { sandboxActions } from './sandbox-actions.js';
import { UploadPanel } from './upload-panel.js';

/** One sandbox: its facts, its used capacity, and its files. */
export function SandboxScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  const sandbox = useQuery({
    queryKey: ['sandbox', id],
    queryFn: ({ signal }) => slipway.sandboxes.get(id, { signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <>
      <ScreenHead
        title={<span className="break-all">{id}</span>}
        note={sandbox.data && <Chip word={sandbox.data.state} />}
        actions={
          <Link to="/sandboxes" className="text-sm underline">
            All sandboxes
          </Link>
        }
      />
      {isSlipwayError(sandbox.error, 'sandbox_not_found') ? (
        <EmptyState title="This sandbox does not exist or has expired" command="slipway sandboxes list" />
      ) : (
        <Loaded query={sandbox} what="the sandbox">
          {(data) => <Contents sandbox={data} />}
        </Loaded>
      )}
    </>
  );
}

function Contents({ sandbox }: { sandbox: Sandbox }) {
  const mayUpload = useMay('operator');
  const { bytes_used, bytes_limit } = sandbox.workspace;
  return (
    <div className="grid items-start gap-3 xl:grid-cols-[1fr_28rem]">
      <div className="min-w-0 space-y-3 xl:order-last">
        <About sandbox={sandbox} />
        {mayUpload && (
          <UploadPanel sandbox={sandbox.id} capacity={{ left: bytes_limit - bytes_used, limit: bytes_limit }} />
        )}
      </div>
      <FilesPanel sandbox={sandbox} />
    </div>
  );
}

function About({ sandbox }: { sandbox: Sandbox }) {
  const { workspace, labels } = sandbox;
  const navigate = useNavigate();
  const client = useQueryClient();
  const mayChange = useMay('operator');
  const queryKey = ['sandbox', sandbox.id];
  const { open, dialog } = useActions<Sandbox>(['sandboxes'], queryKey);
  const actions = sandboxActions(() => {
    // Not read again: until the page of all sandboxes is there, this one would say that the sandbox does not exist.
    void client.cancelQueries({ queryKey });
    void navigate({ to: '/sandboxes' });
  });
  return (
    <Panel
      title="Workspace"
      actions={
        <>
          {mayChange && <ActionButtons isSmall actions={actions} row={sandbox} onOpen={open} />}
          <CopyButton text={sandbox.id} label="Copy ID" />
        </>
      }
    >
      {dialog}
      <dl className="space-y-1 text-sm">
        <Row name="Used">
          <CapacityBar used={workspace.bytes_used} limit={workspace.bytes_limit} />
        </Row>
        <Row name="Files">{workspace.file_count}</Row>
        <Row name="Provider">{sandbox.provider}</Row>
        {sandbox.reference_id && (
          <Row name="Reference">
            <Link to="/sandboxes" search={{ tab: 'references' }} className="break-all underline">
              {sandbox.reference_id}
            </Link>
          </Row>
        )}
        <Row name="Observed">
          <Time at={sandbox.state_observed_at} />
        </Row>
        <Row name="Labels">{pairsText(labels, ', ') || 'none'}</Row>
        <Row name="Created">
          <Time at={sandbox.created_at} />
        </Row>
        <Row name="Expires">
          <Time at={sandbox.expires_at} />
        </Row>
      </dl>
    </Panel>
  );
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="grid grid-cols-[6rem_1fr] gap-2">
      <dt className="text-soft">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}
