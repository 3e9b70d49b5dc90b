/**
 * Messages on their way out. The hub erases a text for good, so it is asked when the time to take it back is over; a
 * page that is closed before asks at once.
 */
import { useSyncExternalStore } from 'react';
import { call } from '@/api/client';
import type { Message } from '@/api/shapes';
import { UNDO_MS } from '@/parts/Toasts';

interface Leaving {
  message: Message;
  timer: ReturnType<typeof setTimeout>;
  failed(error: unknown): void;
}

let leaving: ReadonlyMap<string, Leaving> = new Map();
const listeners = new Set<() => void>();

function set(change: (all: Map<string, Leaving>) => void): void {
  const all = new Map(leaving);
  change(all);
  leaving = all;
  for (const listener of listeners) listener();
}

async function carryOut(id: string, keepalive = false): Promise<void> {
  const one = leaving.get(id);
  if (!one) return;
  clearTimeout(one.timer);
  try {
    const path = `/api/messages/${encodeURIComponent(id)}`;
    await call('DELETE', path, undefined, { 'If-Match': `"${one.message.version}"` }, { keepalive });
  } catch (error) {
    one.failed(error);
  }
  set((all) => all.delete(id));
}

/** Hidden at once, erased when the time to undo is over. Returns how to take it back. */
export function deleteLater(message: Message, failed: (error: unknown) => void): () => void {
  const timer = setTimeout(() => void carryOut(message.id), UNDO_MS);
  set((all) => all.set(message.id, { message, timer, failed }));
  return () => {
    clearTimeout(timer);
    set((all) => all.delete(message.id));
  };
}

window.addEventListener('pagehide', () => {
  for (const id of leaving.keys()) void carryOut(id, true);
});

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export const useLeaving = (): ReadonlyMap<string, unknown> => useSyncExternalStore(subscribe, () => leaving);
