/** What the api answers to a list. */
export interface Page<Item> {
  data: Item[];
  next_cursor: string | null;
}

/**
 * A list that is read when it is asked for: `await` gives the first page as the api answers it, `for await` the rows of this page and
 * all behind it, `pages()` page by page.
 */
export class Listing<P extends Page<Item>, Item> implements PromiseLike<P>, AsyncIterable<Item> {
  private first: Promise<P> | undefined;

  /** @param read the page at this cursor; without one, that which the caller's options name */
  constructor(private readonly read: (cursor: string | undefined) => Promise<P>) {}

  then<One = P, Other = never>(
    onRead?: ((page: P) => One | PromiseLike<One>) | null,
    onFailure?: ((error: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<One | Other> {
    this.first ??= this.read(undefined);
    return this.first.then(onRead, onFailure);
  }

  async *pages(): AsyncGenerator<P, void, undefined> {
    let page = await this.read(undefined);
    for (;;) {
      yield page;
      const cursor = page.next_cursor;
      if (!cursor) return;
      page = await this.read(cursor);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }
}
