import type { ReactNode } from 'react';
import { FormDialog } from '../ui/dialogs/form-dialog.js';
import type { ActionCommands } from '../ui/text/shell-line.js';
import { SchemaForm, type Widget } from './schema-form.js';
import type { Attempt, SchemaFormState as Form } from './use-schema-form.js';

interface SchemaDialogProps<Body> {
  form: Form<Body>;
  run: Attempt & { mutate: (body: Body) => void; isPending: boolean };
  title: string;
  description?: ReactNode;
  verb: string;
  isDangerous?: boolean;
  action?: ActionCommands;
  widgets?: Readonly<Record<string, Widget>>;
  onClose: () => void;
  /** False if something is missing that the schema cannot know. */
  isComplete?: boolean;
  before?: ReactNode;
  /** After the fields. */
  children?: ReactNode;
}

/** A dialog that sends the values of its form. */
export function SchemaDialog<Body>({
  form,
  run,
  widgets,
  isComplete = true,
  before,
  children,
  ...dialog
}: SchemaDialogProps<Body>) {
  return (
    <FormDialog
      {...dialog}
      isComplete={isComplete && form.isComplete}
      isBusy={run.isPending}
      error={run.error}
      onSubmit={() => run.mutate(form.body)}
    >
      {before}
      <SchemaForm form={form} attempt={run} widgets={widgets} />
      {children}
    </FormDialog>
  );
}
