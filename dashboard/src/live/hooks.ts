/** The store, as React reads it. A component is drawn again only when what it selects has changed. */
import { createContext, useContext, useEffect, useRef, useSyncExternalStore } from 'react';
import type { HubEvent } from '@/api/shapes';
import type { Piece } from './deltas';
import type { Pending, Refusal } from './outbox';
import type { Live } from './state';
import type { Line, Store } from './store';

export const StoreContext = createContext<Store | null>(null);

export function useStore(): Store {
  const store = useContext(StoreContext);
  if (!store) throw new Error('no store above this component');
  return store;
}

/** `select` must return what is in the state, or a primitive: not something made on the way. */
export function useLive<T>(select: (live: Live) => T): T {
  const store = useStore();
  return useSyncExternalStore(store.subscribe, () => select(store.state));
}

/** For what is put together from the state: kept for as long as its parts are the same. */
export function useDerived<T>(parts: (live: Live) => readonly unknown[], derive: (live: Live) => T): T {
  const store = useStore();
  const kept = useRef<{ parts: readonly unknown[]; value: T } | null>(null);
  return useSyncExternalStore(store.subscribe, () => {
    const now = parts(store.state);
    const before = kept.current;
    if (before && before.parts.length === now.length && before.parts.every((part, index) => part === now[index]))
      return before.value;
    kept.current = { parts: now, value: derive(store.state) };
    return kept.current.value;
  });
}

export function useLine(): Line {
  const store = useStore();
  return useSyncExternalStore(store.subscribe, () => store.line);
}

export function usePieces(conversation: string): readonly Piece[] {
  const { deltas } = useStore();
  return useSyncExternalStore(deltas.subscribe, () => deltas.of(conversation));
}

export function usePending(conversation: string): readonly Pending[] {
  const { outbox } = useStore();
  return useSyncExternalStore(outbox.subscribe, () => outbox.of(conversation));
}

export function useRefusal(conversation: string): Refusal | null {
  const { outbox } = useStore();
  return useSyncExternalStore(outbox.subscribe, () => outbox.refusal(conversation));
}

/** Each stored event as it comes in. */
export function useEvents(watch: (event: HubEvent) => void): void {
  const store = useStore();
  const newest = useRef(watch);
  newest.current = watch;
  useEffect(() => {
    const watcher = (event: HubEvent) => newest.current(event);
    store.watchers.add(watcher);
    return () => void store.watchers.delete(watcher);
  }, [store]);
}
