import type { ComponentProps, ReactNode } from 'react';
import { classes } from './classes.js';

const KINDS = {
  primary: 'bg-accent text-accent-text border-transparent hover:opacity-90',
  plain: 'bg-panel text-text border-line-strong hover:bg-sunken',
  danger: 'bg-panel text-bad border-bad hover:bg-bad-soft',
  quiet: 'bg-transparent text-text border-transparent hover:bg-sunken',
};

export interface ButtonProps extends ComponentProps<'button'> {
  kind?: keyof typeof KINDS;
  icon?: ReactNode;
  isBusy?: boolean;
  isSmall?: boolean;
}

/** While `isBusy`, it accepts no second click, and announces that to screen readers. */
export function Button({ kind = 'plain', icon, isBusy, isSmall, className, children, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled || isBusy}
      aria-busy={isBusy || undefined}
      className={classes(
        'inline-flex items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap disabled:opacity-60',
        isSmall ? 'min-h-7 px-2 text-xs' : 'min-h-9 px-3 text-sm',
        KINDS[kind],
        className,
      )}
    >
      {icon}
      {children}
    </button>
  );
}
