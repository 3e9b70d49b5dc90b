/** A panel at the side of a page; on narrow screens it covers it. Escape closes it. */
import { type ReactNode, useEffect, useRef } from 'react';
import { words } from '@/words';
import './side-panel.css';

export function SidePanel({
  title,
  onClose,
  children,
}: {
  title: ReactNode;
  onClose: () => void;
  children: ReactNode;
}) {
  const panel = useRef<HTMLElement>(null);
  const before = useRef<Element | null>(null);
  useEffect(() => {
    before.current = document.activeElement;
    panel.current?.focus();
    return () => {
      if (before.current instanceof HTMLElement && before.current.isConnected) before.current.focus();
    };
  }, []);
  return (
    <aside
      ref={panel}
      className="side-panel"
      tabIndex={-1}
      data-region="panel"
      aria-label={typeof title === 'string' ? title : undefined}
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <header className="side-panel__head">
        <h2 className="grow">{title}</h2>
        <button type="button" className="plain-button" onClick={onClose} aria-label={words.close}>
          ✕
        </button>
      </header>
      <div className="side-panel__body stack">{children}</div>
    </aside>
  );
}
