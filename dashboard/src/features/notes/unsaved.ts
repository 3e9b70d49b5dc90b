/** Notes that are being written, kept in this tab until they are saved: leaving a note for another page loses nothing. */
import { useEffect } from 'react';

export interface Unsaved {
  text: string;
  /** The version and text that were being edited. */
  version: number;
  base: string;
}

const key = (name: string): string => `moot.note.${name}`;

export function unsavedOf(name: string): Unsaved | null {
  try {
    return JSON.parse(sessionStorage.getItem(key(name)) ?? 'null') as Unsaved | null;
  } catch {
    return null;
  }
}

export function keepUnsaved(name: string, unsaved: Unsaved | null): void {
  if (unsaved) sessionStorage.setItem(key(name), JSON.stringify(unsaved));
  else sessionStorage.removeItem(key(name));
}

/** Closing the tab would lose it: the browser asks first. */
export function useWarning(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [isUnsaved]);
}
