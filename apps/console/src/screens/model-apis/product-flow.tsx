import { useQuery } from '@tanstack/react-query';
import { ArrowRight } from 'lucide-react';
import { slipway } from '../../api/client.js';
import type { Binding, Product, Publication } from '../../api/items.js';
import { usePagedList } from '../../api/paged-list.js';
import { REFRESH_MS } from '../../api/query-client.js';
import { useAddress } from '../../api/search.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chip.js';
import { RowList, type Pages } from '../../ui/row-list.js';
import { BindingsPanel } from './bindings-panel.js';
import { flowOf, servedText, type Flow } from './flow.js';
import { ProductPanel } from './product-panel.js';
import { PublicationPanel } from './publication-panel.js';
import { QualificationPanel } from './qualification-panel.js';

/** All four stages of one product, from left to right and from top to bottom. */
export function ProductFlow({ product, onDeleted }: { product: Product; onDeleted: () => void }) {
  const [{ binding: chosen }, setAddress] = useAddress();
  const bindings = usePagedList<Binding>(['model-api-bindings'], (given) =>
    slipway.admin.modelApi.targetBindings.list(given),
  );
  const publications = usePagedList<Publication>(['model-api-publications'], (given) =>
    slipway.admin.modelApi.publications.list(given),
  );
  if (!bindings.rows) return <Unread list={bindings} what="the bindings" />;
  if (!publications.rows) return <Unread list={publications} what="the publications" />;
  const flow = flowOf(product, bindings.rows, publications.rows);
  const binding = flow.bindings.find(({ id }) => id === chosen) ?? flow.bindings[0];
  return (
    <div className="min-w-0 space-y-3">
      <Stages flow={flow} slug={product.slug} />
      <div className="grid gap-3 xl:grid-cols-2">
        <ProductPanel product={product} onDeleted={onDeleted} />
        <BindingsPanel
          product={product}
          bindings={flow.bindings}
          chosen={binding?.id}
          onChoose={(id) => setAddress({ product: product.slug, binding: id })}
        />
        <QualificationPanel key={binding?.id ?? 'none'} binding={binding} />
        <PublicationPanel product={product} flow={flow} />
      </div>
      <Older bindings={bindings} publications={publications} />
    </div>
  );
}

/** Shows why a stage cannot be judged yet. */
const Unread = ({ list, what }: { list: Pages<unknown>; what: string }) => (
  <RowList list={list} what={what} empty={null}>
    {() => null}
  </RowList>
);

function Stages({ flow: { stages, next, current }, slug }: { flow: Flow; slug: string }) {
  // The catalog measures the service: an earlier qualification does not show it.
  const served = useQuery({
    queryKey: ['model-api-catalog', slug],
    queryFn: ({ signal }) => slipway.modelApiCatalog.get(slug, { signal }),
    refetchInterval: REFRESH_MS,
    enabled: current !== undefined,
  });
  const availability = current && served.data?.availability;
  return (
    <div className="rounded-lg border border-line bg-panel p-3">
      <ol aria-label="Steps to a published model" className="flex flex-wrap items-center gap-x-3 gap-y-2">
        {stages.map(({ id, title, word, tone }, index) => (
          <li key={id} className="flex items-center gap-2 text-sm">
            {index > 0 && <ArrowRight aria-hidden className="size-4 text-soft" />}
            <span className="font-medium">{title}</span>
            <Chip word={word} tone={tone} />
          </li>
        ))}
      </ol>
      <p className="mt-2 flex flex-wrap items-center gap-2 text-sm text-soft">
        {availability && <Chip word={availability} />}
        {next ?? servedText(availability)}
      </p>
    </div>
  );
}

/** The api lists those of all products together: older ones than the newest pages must be requested. */
function Older({ bindings, publications }: { bindings: Pages<Binding>; publications: Pages<Publication> }) {
  const [moreBindings, morePublications] = [bindings, publications].map(({ hasMore, isFull }) => hasMore && !isFull);
  if (!moreBindings && !morePublications) return null;
  return (
    <p className="flex flex-wrap items-center gap-2 text-sm text-soft">
      Based on the newest {bindings.rows?.length} bindings and {publications.rows?.length} publications of all products.
      {moreBindings && (
        <Button isSmall isBusy={bindings.isReadingMore} onClick={bindings.readMore}>
          Load older bindings
        </Button>
      )}
      {morePublications && (
        <Button isSmall isBusy={publications.isReadingMore} onClick={publications.readMore}>
          Load older publications
        </Button>
      )}
    </p>
  );
}
