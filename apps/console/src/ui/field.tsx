import { useId, type ComponentProps, type ReactNode } from 'react';
import { classes } from './classes.js';

const BOX = 'w-full rounded-md border border-line-strong bg-panel px-2 text-sm text-text placeholder:text-soft';

interface FieldLabels {
  label: string;
  hint?: ReactNode;
  /** The fault in the value. */
  fault?: string;
}

interface ControlAttributes {
  id: string;
  'aria-describedby'?: string;
  'aria-invalid'?: boolean;
}

function Labelled({
  label,
  hint,
  fault,
  children,
}: FieldLabels & { children: (wired: ControlAttributes) => ReactNode }) {
  const id = useId();
  return (
    <div className="min-w-0 space-y-1">
      <label htmlFor={id} className="block text-sm font-medium">
        {label}
      </label>
      {children({ id, ...describedBy(id, hint, fault) })}
      <Said id={id} hint={hint} fault={fault} />
    </div>
  );
}

const describedBy = (id: string, hint: ReactNode, fault: string | undefined) => ({
  'aria-describedby': [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ') || undefined,
  'aria-invalid': fault ? true : undefined,
});

function Said({ id, hint, fault }: { id: string; hint: ReactNode; fault: string | undefined }) {
  return (
    <>
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
    </>
  );
}

export function TextField({ label, hint, fault, className, ...rest }: FieldLabels & ComponentProps<'input'>) {
  return (
    <Labelled label={label} hint={hint} fault={fault}>
      {(wired) => <input type="text" {...rest} {...wired} className={classes(BOX, 'h-9', className)} />}
    </Labelled>
  );
}

export function TextArea({ label, hint, fault, className, ...rest }: FieldLabels & ComponentProps<'textarea'>) {
  return (
    <Labelled label={label} hint={hint} fault={fault}>
      {(wired) => <textarea rows={4} {...rest} {...wired} className={classes(BOX, 'py-1.5', className)} />}
    </Labelled>
  );
}

/** The browser's own control: every keyboard, screen reader and phone supports it. */
export function SelectField({
  label,
  hint,
  fault,
  className,
  children,
  ...rest
}: FieldLabels & ComponentProps<'select'>) {
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

export function CheckField({ label, hint, fault, ...rest }: FieldLabels & ComponentProps<'input'>) {
  const id = useId();
  return (
    <div>
      <label className="inline-flex items-center gap-2 text-sm">
        <input type="checkbox" {...rest} {...describedBy(id, hint, fault)} className="size-4 accent-accent" />
        {label}
      </label>
      <div className="pl-6">
        <Said id={id} hint={hint} fault={fault} />
      </div>
    </div>
  );
}

interface ChoicesFieldProps extends FieldLabels {
  all: readonly string[];
  chosen: readonly string[];
  onChange: (one: string, isChosen: boolean) => void;
}

/** A selection from some choices. A choice such as `rollout.*` has a line for its kind, and includes the others there. */
export function ChoicesField({ label, hint, fault, all, chosen, onChange }: ChoicesFieldProps) {
  const id = useId();
  const kinds = all.filter((one) => one.endsWith('.*')).map((one) => one.slice(0, -1));
  const kindOf = (one: string) => kinds.find((kind) => one.startsWith(kind)) ?? '';
  return (
    <fieldset className="min-w-0 space-y-1" aria-describedby={describedBy(id, hint, fault)['aria-describedby']}>
      <legend className="text-sm font-medium">{label}</legend>
      {['', ...kinds].map((kind) => (
        <div key={kind} className="flex flex-wrap gap-x-4 gap-y-1">
          {all
            .filter((one) => kindOf(one) === kind)
            .map((one) => {
              const isIncluded = one !== `${kind}*` && chosen.includes(`${kind}*`);
              return (
                <CheckField
                  key={one}
                  label={one}
                  checked={isIncluded || chosen.includes(one)}
                  disabled={isIncluded}
                  onChange={(event) => onChange(one, event.target.checked)}
                />
              );
            })}
        </div>
      ))}
      <Said id={id} hint={hint} fault={fault} />
    </fieldset>
  );
}
