import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { slipway } from '../../api/client.js';
import type { CatalogEntry } from '../../api/items.js';
import { REFRESH_MS } from '../../api/query-client.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chip.js';
import { CopyButton } from '../../ui/copy.js';
import { Loaded } from '../../ui/loaded.js';
import { Panel } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';
import { lengthText } from '../../ui/text/time-text.js';
import { entryCurl, priceText, pythonOf, tokensText } from './entry-text.js';

export function EntryPanel({ slug, onClose }: { slug: string; onClose: () => void }) {
  const entry = useQuery({
    queryKey: ['model-api-catalog', slug],
    queryFn: ({ signal }) => slipway.modelApiCatalog.get(slug, { signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Panel
      title={slug}
      note={entry.data && <Chip word={entry.data.availability} />}
      actions={
        <Button
          kind="quiet"
          isSmall
          aria-label={`Close ${slug}`}
          icon={<X aria-hidden className="size-3.5" />}
          onClick={onClose}
        />
      }
    >
      <Loaded query={entry} what={slug}>
        {(data) => <Details entry={data} />}
      </Loaded>
    </Panel>
  );
}

function Details({ entry }: { entry: CatalogEntry }) {
  const { performance, endpoint } = entry;
  return (
    <div className="space-y-3">
      <p className="text-sm">{entry.description ?? entry.name}</p>
      <dl className="space-y-1 text-sm">
        <Row name="Context">{tokensText(entry.context_length)}</Row>
        <Row name="Output">{tokensText(entry.max_output_tokens)}</Row>
        <Row name="Price">{priceText(entry.pricing)}</Row>
        <Row name="Parameters">{entry.supported_parameters.join(', ') || 'not specified'}</Row>
        <Row name="TTFT">
          {performance?.ttft_ms
            ? `p50 ${lengthText(performance.ttft_ms.p50)}, p95 ${lengthText(performance.ttft_ms.p95)} in 15 min`
            : 'no requests in 15 min'}
        </Row>
        <Row name="Tokens/s">{performance?.output_tokens_per_s?.toFixed(1) ?? 'no requests in 15 min'}</Row>
        {entry.shares_prefix_cache && (
          <Row name="Cache">
            Shared with other tenants, also with cache_salt: response times can reveal earlier prompts
          </Row>
        )}
        <Row name="Created">
          <Time at={new Date(entry.created * 1000).toISOString()} />
        </Row>
        <Row name="Base URL">
          <code className="text-xs wrap-anywhere">{endpoint.base_url}</code>
        </Row>
        <Row name="Model">
          <code className="text-xs wrap-anywhere">{endpoint.model}</code>
        </Row>
      </dl>
      <Link
        to="/playground"
        search={{ model: entry.slug }}
        className="inline-flex min-h-9 items-center rounded-md bg-accent px-3 text-sm font-medium text-accent-text"
      >
        Open in playground
      </Link>
      <Sample title="curl" text={entryCurl(entry)} />
      <Sample title="Python" text={pythonOf(entry)} />
    </div>
  );
}

function Sample({ title, text }: { title: string; text: string }) {
  return (
    <div>
      <h3 className="flex items-center gap-2 text-sm font-medium">
        {title} <CopyButton text={text} label={`Copy as ${title}`} />
      </h3>
      <pre
        tabIndex={0}
        role="region"
        aria-label={`${title} example`}
        className="overflow-x-auto rounded bg-sunken p-2 text-xs"
      >
        {text}
      </pre>
    </div>
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
