export const PRODUCTS = Symbol('ProductsPort');

/** One binding of a publication, without a word about who is behind it. */
export interface ServingBinding {
  id: string;
  /** Share among the bindings of its priority; 0 = dark. */
  weight: number;
  /** Lower is preferred. */
  priority: number;
  /** The pinned revision, or null if somebody else's server answers. */
  revisionId: string | null;
}

/** A product that is published now, as its audience may know it; bindings are for measuring, not for showing. */
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
  bindings: ServingBinding[];
}

/** Offered by model-api-administration. Reads over tenants: what is shown is limited by each publication's audience. */
export interface ProductsPort {
  /** By id or slug; undefined when it is unknown, not published, or not for this tenant. */
  visibleTo(tenantId: string, reference: string): Promise<PublishedProduct | undefined>;
  /** Ascending by slug. @param after slug of the last one seen */
  listVisibleTo(tenantId: string, page: { after: string | null; limit: number }): Promise<PublishedProduct[]>;
}
