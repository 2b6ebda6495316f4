/** The kind of the operation that passes a file on to an external sandbox, and its one step. */
export const FILE_PUSH = 'sandbox_file_push';
export const PUSH_STEPS = ['push'];

export interface FilePushInput {
  sandboxId: string;
  path: string;
  /** The content as uploaded; a file that names another blob by now has been replaced. */
  blob: string;
}
