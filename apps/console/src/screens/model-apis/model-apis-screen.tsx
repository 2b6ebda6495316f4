import { Plus } from 'lucide-react';
import { useActions } from '../../actions/action-dialog.js';
import { slipway } from '../../api/client.js';
import type { Product } from '../../api/items.js';
import { usePagedList } from '../../api/paged-list.js';
import { useAddress } from '../../api/search.js';
import { useMay } from '../../api/who.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chip.js';
import { classes } from '../../ui/classes.js';
import { EmptyState } from '../../ui/empty-state.js';
import { TextFilter } from '../../ui/filters.js';
import { RowList } from '../../ui/row-list.js';
import { Panel, ScreenHead } from '../../ui/panel.js';
import { ProductFlow } from './product-flow.js';
import { createProduct } from './product-actions.js';

const CLI = 'slipway products create acme/chat --display-name "Acme Chat"';

/** From a name to an answer: the product, its bindings, their qualification, and its audience. */
export function ModelApisScreen() {
  const mayChange = useMay('admin');
  const [{ product: chosen, search = '' }, setAddress] = useAddress();
  const choose = (product: string | undefined) => setAddress({ product, binding: undefined });
  const { open, dialog } = useActions<undefined>(['model-api-products']);
  const products = usePagedList<Product>(['model-api-products'], (given) =>
    slipway.admin.modelApi.products.list(given),
  );
  return (
    <>
      <ScreenHead
        title="Model APIs"
        actions={
          mayChange && (
            <Button
              kind="primary"
              icon={<Plus aria-hidden className="size-4" />}
              onClick={() => open(createProduct(choose), undefined)}
            >
              Create product
            </Button>
          )
        }
      />
      <RowList
        list={products}
        what="the products"
        empty={
          <EmptyState title="No products yet" command={CLI}>
            <p className="text-sm text-soft">
              A product is a name that clients send as model. Its bindings define which models serve it.
            </p>
          </EmptyState>
        }
      >
        {(rows) => {
          const product = rows.find(({ slug }) => slug === chosen) ?? (chosen === undefined ? rows[0] : undefined);
          return (
            <div className="grid gap-3 lg:grid-cols-[16rem_1fr]">
              <Panel title="Products" note={<span className="text-xs text-soft">{rows.length}</span>}>
                <TextFilter name="search" label="Search" placeholder="slug or name" />
                <Products
                  products={rows.filter(({ slug, display_name }) =>
                    `${slug} ${display_name}`.toLowerCase().includes(search.toLowerCase()),
                  )}
                  chosen={product?.slug}
                  onChoose={choose}
                />
              </Panel>
              {product ? (
                <ProductFlow key={product.id} product={product} onDeleted={() => choose(undefined)} />
              ) : (
                <EmptyState title={`${chosen} is not among the loaded products`} command="slipway products list" />
              )}
            </div>
          );
        }}
      </RowList>
      {dialog}
    </>
  );
}

/** A page does not show more; the filter finds the others. */
const MOST_SHOWN = 200;

interface ProductsProps {
  products: Product[];
  chosen: string | undefined;
  onChoose: (slug: string) => void;
}

function Products({ products, chosen, onChoose }: ProductsProps) {
  if (products.length === 0) return <p className="mt-2 text-sm text-soft">No products match the search.</p>;
  return (
    <>
      <ul className="mt-2 max-h-[60vh] space-y-0.5 overflow-y-auto">
        {products.slice(0, MOST_SHOWN).map(({ id, slug, display_name, state }) => (
          <li key={id}>
            <button
              type="button"
              aria-current={slug === chosen ? 'true' : undefined}
              onClick={() => onChoose(slug)}
              className={classes(
                'flex w-full items-center gap-2 rounded-md px-2 py-1.5 text-left text-sm hover:bg-sunken',
                slug === chosen && 'bg-accent-soft font-medium',
              )}
            >
              <span className="min-w-0 grow">
                <span className="block break-all">{slug}</span>
                {display_name !== slug && <span className="block truncate text-xs text-soft">{display_name}</span>}
              </span>
              <Chip word={state} />
            </button>
          </li>
        ))}
      </ul>
      {products.length > MOST_SHOWN && (
        <p className="mt-2 text-xs text-soft">Only the first {MOST_SHOWN} are shown. Search to find others.</p>
      )}
    </>
  );
}
