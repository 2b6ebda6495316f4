import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ActionButtons, useActions } from '../../actions/action-dialog.js';
import type { Product } from '../../api/items.js';
import { useMay } from '../../api/who.js';
import { Chip } from '../../ui/chip.js';
import { Panel } from '../../ui/panel.js';
import { Time } from '../../ui/time.js';
import { productActions } from './product-actions.js';

export function ProductPanel({ product, onDeleted }: { product: Product; onDeleted: () => void }) {
  const { pricing } = product;
  const mayChange = useMay('admin');
  const { open, dialog } = useActions<Product>(['model-api-products'], ['model-api-catalog']);
  return (
    <Panel
      title="1 Product"
      note={<Chip word={product.state} />}
      actions={
        <>
          {mayChange && <ActionButtons isSmall actions={productActions(onDeleted)} row={product} onOpen={open} />}
          <Link to="/catalog" search={{ model: product.slug }} className="text-xs underline">
            Show in catalog
          </Link>
        </>
      }
    >
      {dialog}
      <dl className="space-y-1 text-sm">
        <Row name="Slug">
          <code className="break-all">{product.slug}</code>
        </Row>
        <Row name="Name">{product.display_name}</Row>
        {product.description && <Row name="Description">{product.description}</Row>}
        <Row name="ID">
          <code className="text-xs break-all">{product.id}</code>
        </Row>
        <Row name="Modalities">{product.modalities.join(', ') || 'none'}</Row>
        <Row name="Tokens">
          {`context ${product.context_length ?? 'not specified'}, output ${product.max_output_tokens ?? 'not specified'}`}
        </Row>
        <Row name="Parameters">{product.supported_parameters.join(', ') || 'none'}</Row>
        <Row name="Pricing">
          {pricing
            ? `${pricing.input_per_mtok} in, ${pricing.output_per_mtok} out, ${pricing.currency} per million tokens`
            : 'none'}
        </Row>
        <Row name="Updated">
          <Time at={product.updated_at} />
        </Row>
      </dl>
    </Panel>
  );
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="grid grid-cols-[6.5rem_1fr] gap-2">
      <dt className="text-soft">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}
