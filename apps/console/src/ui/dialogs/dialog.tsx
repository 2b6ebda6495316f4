import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { classes } from '../classes.js';

interface DialogProps {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  isWide?: boolean;
  /** The buttons, with the main one last. */
  footer?: ReactNode;
  /** The element that gets the focus afterwards, if it is not the previous one: for a dialog that follows another. */
  returnTo?: HTMLElement | null;
  children: ReactNode;
}

/** Keeps the keyboard focus inside, closes with Escape, and returns the focus to the opener. */
export function Dialog({ isOpen, onClose, title, description, isWide, footer, returnTo, children }: DialogProps) {
  useFocusAfterwards(isOpen, returnTo);
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/50" />
        <Base.Popup
          finalFocus={false}
          className={classes(
            'fixed top-1/2 left-1/2 z-50 flex max-h-[90vh] w-[calc(100vw-1.5rem)] -translate-x-1/2 -translate-y-1/2 flex-col rounded-lg border border-line bg-panel text-text shadow-xl',
            isWide ? 'max-w-4xl' : 'max-w-xl',
          )}
        >
          <div className="flex items-start gap-2 border-b border-line p-4">
            <div className="min-w-0 grow">
              <Base.Title className="text-base font-semibold">{title}</Base.Title>
              {description && <Base.Description className="text-sm text-soft">{description}</Base.Description>}
            </div>
            <Base.Close aria-label="Close" className="rounded p-1 hover:bg-sunken">
              <X aria-hidden className="size-4" />
            </Base.Close>
          </div>
          <div className="min-h-0 space-y-3 overflow-y-auto p-4">{children}</div>
          {footer && <div className="flex flex-wrap justify-end gap-2 border-t border-line p-3">{footer}</div>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** Most dialogs are unmounted when they close, together with the code that would return the focus. */
function useFocusAfterwards(isOpen: boolean, returnTo: HTMLElement | null | undefined): void {
  const opener = useOpener();
  const target = useRef(opener);
  target.current = returnTo ?? opener;
  useEffect(() => {
    if (!isOpen) return;
    return () => {
      // Waits until the dialog is gone from the page, unless another element, such as the
      // next dialog, has taken the focus by then.
      requestAnimationFrame(() => {
        if (document.activeElement === document.body && target.current?.isConnected) target.current.focus();
      });
    };
  }, [isOpen]);
}

/** Returns the element that had the focus at the first render. */
export function useOpener(): HTMLElement | null {
  const [opener] = useState(() => document.activeElement as HTMLElement | null);
  return opener;
}
