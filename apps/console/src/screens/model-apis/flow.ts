import type { Binding, Product, Publication } from '../../api/items.js';
import type { Tone } from '../../ui/chip.js';

export interface FlowStage {
  id: 'product' | 'bindings' | 'qualification' | 'publication';
  title: string;
  /** The state in a word or two. */
  word: string;
  /** The tone of the word by default. */
  tone?: Tone;
}

export interface Flow {
  /** Of this product, newest first. */
  bindings: Binding[];
  publications: Publication[];
  /** The version that serves clients. */
  current: Publication | undefined;
  stages: FlowStage[];
  /** The next step for clients to be served well; undefined if there is none. */
  next: string | undefined;
}

/** Returns the stage of a product between its name and its first answer. */
export function flowOf(
  product: Product,
  allBindings: readonly Binding[],
  allPublications: readonly Publication[],
): Flow {
  const bindings = allBindings.filter(({ product_id }) => product_id === product.id);
  const publications = allPublications.filter(({ product_id }) => product_id === product.id);
  const current = publications.find(({ state }) => state === 'published');
  const qualified = bindings.filter(({ state }) => state === 'qualified');
  const weak = weakBindings(current, bindings);
  return {
    bindings,
    publications,
    current,
    stages: [
      { id: 'product', title: 'Product', word: product.state },
      {
        id: 'bindings',
        title: 'Bindings',
        word: bindings.length === 0 ? 'none' : String(bindings.length),
        tone: bindings.length === 0 ? 'warn' : 'good',
      },
      {
        id: 'qualification',
        title: 'Qualification',
        word: `${qualified.length} of ${bindings.length} qualified`,
        tone: qualified.length === 0 ? 'warn' : 'good',
      },
      {
        id: 'publication',
        title: 'Publication',
        word: current ? `version ${current.version} published` : (publications[0]?.state ?? 'not published'),
        tone: !current || weak.length > 0 ? 'warn' : 'good',
      },
    ],
    next: nextOf(bindings, qualified, current, weak),
  };
}

/**
 * Returns the bindings of a publication that may no longer answer as they were qualified. A
 * binding that has not been read is not judged.
 */
function weakBindings(current: Publication | undefined, bindings: readonly Binding[]): Binding[] {
  const named = new Set(current?.bindings.map(({ binding_id }) => binding_id));
  return bindings.filter(({ id, state, drifted }) => named.has(id) && (drifted || state !== 'qualified'));
}

function nextOf(
  bindings: readonly Binding[],
  qualified: readonly Binding[],
  current: Publication | undefined,
  weak: readonly Binding[],
): string | undefined {
  if (bindings.length === 0) return 'Create a binding to a revision or to a model of a supplier.';
  if (weak.length > 0)
    return `${weak.map(targetText).join(', ')} is published, but ${weak.some(({ drifted }) => drifted) ? 'now serves another model' : 'did not pass its last qualification'}. Qualify it again, or publish without it.`;
  if (current) return undefined;
  if (qualified.length === 0) return 'Qualify a binding. Only qualified bindings can be published.';
  return 'Publish the product. Clients can then send its slug as model.';
}

/** Describes the service that clients of a published product get, as the catalog measures it. */
export function servedText(availability: string | undefined): string {
  if (availability === undefined) return 'The product is published.';
  if (availability === 'available') return 'Clients are served.';
  return 'The product is published, but not fully available. Check the instances of its bindings.';
}

/** Describes the destination of a binding, for admins: no one else sees it. */
export function targetText({ target }: Binding): string {
  return target.deployment === undefined
    ? `${target.supplier ?? ''}: ${target.model ?? ''}`
    : `${target.deployment} ${target.revision ?? ''}`;
}
