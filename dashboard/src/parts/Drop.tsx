/** A button and what it opens, in the browser's own top layer: Escape and a click elsewhere close it, focus returns. */
import { type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';
import './drop.css';

interface Props {
  /** What is on the button. */
  text: ReactNode;
  label?: string;
  className?: string;
  disabled?: boolean;
  tabIndex?: number;
  above?: boolean;
  menu?: boolean;
  onOpen?(open: boolean): void;
  children: ReactNode;
}

const GAP = 6;

export function Drop({
  text,
  label,
  className,
  disabled,
  tabIndex,
  above = false,
  menu = false,
  onOpen,
  children,
}: Props) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  // Placed once its content is there, and again when more of it comes: before that it has no size.
  useLayoutEffect(() => {
    if (!open) return;
    const shown = box.current;
    if (!shown) return;
    const place = () => {
      const near = button.current?.getBoundingClientRect();
      if (!near) return;
      const { offsetWidth: width, offsetHeight: height } = shown;
      const over = near.top - height - GAP;
      const under = near.bottom + GAP;
      const top = above ? (over >= 0 ? over : under) : under + height <= window.innerHeight ? under : over;
      shown.style.top = `${Math.max(GAP, Math.min(top, window.innerHeight - height - GAP))}px`;
      shown.style.left = `${Math.max(GAP, Math.min(near.right - width, window.innerWidth - width - GAP))}px`;
    };
    place();
    const grows = new ResizeObserver(place);
    grows.observe(shown);
    return () => grows.disconnect();
  }, [open, above]);
  return (
    <>
      <button
        ref={button}
        type="button"
        className={className ?? 'plain-button plain-button--line'}
        popoverTarget={id}
        aria-label={label}
        aria-expanded={open}
        aria-haspopup={menu ? 'menu' : 'dialog'}
        disabled={disabled}
        tabIndex={tabIndex}
      >
        {text}
      </button>
      {/* biome-ignore-start lint/a11y: it has one of two roles, and choosing an item closes it: keys press the items themselves */}
      <div
        ref={box}
        id={id}
        popover="auto"
        className="drop"
        role={menu ? 'menu' : 'dialog'}
        aria-label={label ?? (typeof text === 'string' ? text : undefined)}
        onToggle={(event) => {
          const now = event.newState === 'open';
          setOpen(now);
          onOpen?.(now);
        }}
        onClick={() => menu && box.current?.hidePopover()}
      >
        {open && children}
      </div>
      {/* biome-ignore-end lint/a11y: as above */}
    </>
  );
}

export function DropItem({ text, onClick, bad = false }: { text: string; onClick: () => void; bad?: boolean }) {
  return (
    <button
      type="button"
      role="menuitem"
      className={bad ? 'plain-button plain-button--bad drop__item' : 'plain-button drop__item'}
      onClick={onClick}
    >
      {text}
    </button>
  );
}
