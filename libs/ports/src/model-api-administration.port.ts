import type { RowPage } from '@slipway/platform-database';

export const PRODUCTS = Symbol('ProductsPort');

/** One binding of a publication, without any information about its server or supplier. */
export interface ServingBinding {
  id: string;
  /** Share among the bindings of its priority; 0 = dark. */
  weight: number;
  /** Lower is preferred. */
  priority: number;
  /** The pinned revision, or null if a supplier's server answers. */
  revisionId: string | null;
}

/** A published product, with the fields that its audience may see. Bindings are for measurements and never shown. */
export interface PublishedProduct {
  id: string;
  slug: string;
  displayName: string;
  description: string | null;
  contextLength: number | null;
  maxOutputTokens: number | null;
  supportedParameters: string[];
  pricing: { currency: string; input_per_mtok: number; output_per_mtok: number } | null;
  createdAt: Date;
  /** Whether its tenants share a prefix cache that `cache_salt` does not divide. */
  sharesPrefixCache: boolean;
  bindings: ServingBinding[];
}

/** Offered by model-api-administration. Reads across tenants: the audience of each publication limits the result. */
export interface ProductsPort {
  /** By id or slug; undefined if it is unknown, not published, or not for this tenant. */
  visibleTo(tenantId: string, reference: string): Promise<PublishedProduct | undefined>;
  /** Ascending by slug. @param after slug of the last product of the previous page */
  listVisibleTo(tenantId: string, page: { after: string | null; limit: number }): Promise<RowPage<PublishedProduct>>;
}
