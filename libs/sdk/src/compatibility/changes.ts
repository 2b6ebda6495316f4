/** `added` asks nothing of a client, `changed` is worth knowing, `broken` can stop one that works today. */
export type ChangeKind = 'added' | 'changed' | 'broken';

export interface DocumentChange {
  kind: ChangeKind;
  /** The operation's id, or `document` for what concerns all of them. */
  operation: string;
  what: string;
}
