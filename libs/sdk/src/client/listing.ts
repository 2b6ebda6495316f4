/** The api's answer to a list request. */
export interface Page<Item> {
  data: Item[];
  next_cursor: string | null;
}

/**
 * A lazy list: `await` returns the first page as the api answers it, `for await` yields the rows of this page and all
 * later ones, and `pages()` yields page by page.
 */
export class Listing<P extends Page<Item>, Item> implements PromiseLike<P>, AsyncIterable<Item> {
  private first: Promise<P> | undefined;

  /** @param read the page at this cursor; without one, the page that the caller's options name */
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
