import type { UnitWatch } from '../instances/unit-watch.js';

/** How long a namespace may take for its first list if no instance is known to be in it. */
const SEARCH_MS = 60_000;

/**
 * The namespaces that the operator's file no longer names, but in which units may still exist. They are watched like
 * the others, until nothing is left in them.
 */
export class FormerNamespaces {
  /** The instances that may have units in a namespace. */
  private readonly users = new Map<string, Set<string>>();
  /** When the search in a namespace began, by `performance.now()`. */
  private readonly since = new Map<string, number>();
  /** Namespaces in which nothing was left. */
  private readonly left = new Set<string>();

  constructor(
    private readonly watch: Pick<UnitWatch, 'follow' | 'unfollow' | 'namespaces' | 'isKnownIn' | 'isEmptyIn'>,
    private readonly current: () => readonly string[],
  ) {}

  /** Those with known instances. */
  get used(): string[] {
    return this.former([...this.users.keys()]);
  }

  /** An instance may have units in these namespaces. */
  use(instanceId: string, namespaces: readonly string[]): void {
    for (const namespace of this.former(namespaces)) {
      this.users.set(namespace, (this.users.get(namespace) ?? new Set()).add(instanceId));
      this.left.delete(namespace);
      this.follow(namespace);
    }
  }

  /** The instance has no units any more. */
  forget(instanceId: string): void {
    for (const [namespace, instances] of this.users)
      if (instances.delete(instanceId) && instances.size === 0) this.users.delete(namespace);
  }

  /** Something may be left in these namespaces, such as units without an instance. */
  search(namespaces: readonly string[]): void {
    for (const namespace of this.former(namespaces)) if (!this.left.has(namespace)) this.follow(namespace);
  }

  /** Ends the watches of namespaces in which nothing is left. */
  leave(): void {
    for (const namespace of this.former(this.watch.namespaces)) {
      const searchedMs = performance.now() - (this.since.get(namespace) ?? 0);
      const isOver = this.watch.isKnownIn(namespace) ? this.watch.isEmptyIn(namespace) : searchedMs > SEARCH_MS;
      if (!isOver || this.users.has(namespace)) continue;
      this.left.add(namespace);
      this.since.delete(namespace);
      this.watch.unfollow(namespace);
    }
  }

  private follow(namespace: string): void {
    if (!this.since.has(namespace)) this.since.set(namespace, performance.now());
    this.watch.follow([namespace]);
  }

  private former(namespaces: readonly string[]): string[] {
    const current = new Set(this.current());
    return [...new Set(namespaces)].filter((namespace) => !current.has(namespace));
  }
}
