import type { Binding, Product, Publication } from '../../api/items.js';
import type { Tone } from '../../ui/chip.js';

export interface FlowStage {
  id: 'product' | 'bindings' | 'qualification' | 'publication';
  title: string;
  /** How far it is, in a word or two. */
  word: string;
  /** What the word itself asks for, unless said. */
  tone?: Tone;
}

export interface Flow {
  /** Of this product, newest first. */
  bindings: Binding[];
  publications: Publication[];
  /** The version that clients are served by. */
  current: Publication | undefined;
  stages: FlowStage[];
  /** What is to be done for clients to be served well; undefined where nothing is. */
  next: string | undefined;
}

/** Where a product stands on its way from a name to an answer. */
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

/** Those of a publication that may not answer as they were proven to. One that is not among those read is not judged. */
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

/** What clients of a published product get, as the catalog measures it. */
export function servedText(availability: string | undefined): string {
  if (availability === undefined) return 'The product is published.';
  if (availability === 'available') return 'Clients are served.';
  return 'The product is published, but not fully available. Check the instances of its bindings.';
}

/** What a binding leads to, for admins: nobody else sees it. */
export function targetText({ target }: Binding): string {
  return target.deployment === undefined
    ? `${target.supplier ?? ''}: ${target.model ?? ''}`
    : `${target.deployment} ${target.revision ?? ''}`;
}
