/** Keys that work everywhere. */
import { useEffect } from 'react';
import { useLocation } from 'wouter';
import { useStore } from '@/live/hooks';
import type { Live } from '@/live/state';
import { decoded } from '@/parts/talks';

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));

function nextRegion(step: number): void {
  const regions = [...document.querySelectorAll<HTMLElement>('[data-region]')].filter(
    (one) => one.offsetParent !== null,
  );
  const here = regions.findIndex((region) => region.contains(document.activeElement));
  const next = regions[(here + step + regions.length) % regions.length];
  const target =
    next?.querySelector<HTMLElement>('[data-region-focus], a[href], button:not(:disabled), textarea, input') ?? next;
  target?.focus();
}

/** The unread conversation before or after the one shown, by newest message. */
export function nextUnread(live: Live, current: string, step: number): string | null {
  const unread = Object.values(live.conversations)
    .filter((one) => !one.archived && ((one.unread ?? 0) > 0 || one.id === current))
    .sort((a, b) => (b.updated_at ?? '').localeCompare(a.updated_at ?? ''));
  const others = unread.filter((one) => one.id !== current);
  if (!others.length) return null;
  const here = unread.findIndex((one) => one.id === current);
  return (here < 0 ? others[0] : unread[(here + step + unread.length) % unread.length])?.id ?? null;
}

export function useKeys({ palette, sheet }: { palette: () => void; sheet: () => void }): void {
  const store = useStore();
  const [, go] = useLocation();
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const command = event.ctrlKey || event.metaKey;
      if (command && event.key.toLowerCase() === 'k') palette();
      else if (event.key === 'F6') nextRegion(event.shiftKey ? -1 : 1);
      else if (event.altKey && event.shiftKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
        const current = /^\/c\/([^/]+)/.exec(window.location.pathname)?.[1] ?? '';
        const next = nextUnread(store.state, decoded(current), event.key === 'ArrowDown' ? 1 : -1);
        if (next) go(`/c/${encodeURIComponent(next)}`);
      } else if (event.key === '?' && !typing(event.target)) sheet();
      else return;
      event.preventDefault();
    };
    window.addEventListener('keydown', pressed);
    return () => window.removeEventListener('keydown', pressed);
  }, [store, go, palette, sheet]);
}
