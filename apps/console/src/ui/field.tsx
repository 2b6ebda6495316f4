import { useId, type ComponentProps, type ReactNode } from 'react';
import { classes } from './classes.js';

const BOX = 'w-full rounded-md border border-line-strong bg-panel px-2 text-sm text-text placeholder:text-soft';

interface Around {
  label: string;
  hint?: ReactNode;
  /** What is wrong with it, as the api said it. */
  fault?: string;
}

interface Wired {
  id: string;
  'aria-describedby'?: string;
  'aria-invalid'?: boolean;
}

function Labelled({ label, hint, fault, children }: Around & { children: (wired: Wired) => ReactNode }) {
  const id = useId();
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ') || undefined;
  return (
    <div className="min-w-0 space-y-1">
      <label htmlFor={id} className="block text-sm font-medium">
        {label}
      </label>
      {children({ id, 'aria-describedby': described, 'aria-invalid': fault ? true : undefined })}
      {hint && (
        <p id={`${id}-hint`} className="text-xs text-soft">
          {hint}
        </p>
      )}
      {fault && (
        <p id={`${id}-fault`} className="text-xs text-bad">
          {fault}
        </p>
      )}
    </div>
  );
}

export function TextField({ label, hint, fault, className, ...rest }: Around & ComponentProps<'input'>) {
  return (
    <Labelled label={label} hint={hint} fault={fault}>
      {(wired) => <input type="text" {...rest} {...wired} className={classes(BOX, 'h-9', className)} />}
    </Labelled>
  );
}

export function TextArea({ label, hint, fault, className, ...rest }: Around & ComponentProps<'textarea'>) {
  return (
    <Labelled label={label} hint={hint} fault={fault}>
      {(wired) => <textarea rows={4} {...rest} {...wired} className={classes(BOX, 'py-1.5', className)} />}
    </Labelled>
  );
}

/** The browser's own: every keyboard, screen reader and phone knows it. */
export function SelectField({ label, hint, fault, className, children, ...rest }: Around & ComponentProps<'select'>) {
  return (
    <Labelled label={label} hint={hint} fault={fault}>
      {(wired) => (
        <select {...rest} {...wired} className={classes(BOX, 'h-9', className)}>
          {children}
        </select>
      )}
    </Labelled>
  );
}

export function CheckField({ label, hint, ...rest }: { label: string; hint?: ReactNode } & ComponentProps<'input'>) {
  const id = useId();
  return (
    <div>
      <label className="inline-flex items-center gap-2 text-sm">
        <input
          type="checkbox"
          {...rest}
          aria-describedby={hint ? `${id}-hint` : undefined}
          className="size-4 accent-accent"
        />
        {label}
      </label>
      {hint && (
        <p id={`${id}-hint`} className="pl-6 text-xs text-soft">
          {hint}
        </p>
      )}
    </div>
  );
}
