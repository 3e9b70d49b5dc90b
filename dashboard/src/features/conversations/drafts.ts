/** What is being written, per conversation, in this tab; kept over reloads, gone at sign-out. */
const listeners = new Set<(id: string) => void>();

const key = (id: string): string => `moot.draft.${id}`;

export const draftOf = (id: string): string => sessionStorage.getItem(key(id)) ?? '';

/** Said by somebody other than the composer, who then shows it. */
export function setDraft(id: string, text: string): void {
  keepDraft(id, text);
  for (const listener of listeners) listener(id);
}

export function keepDraft(id: string, text: string): void {
  if (text) sessionStorage.setItem(key(id), text);
  else sessionStorage.removeItem(key(id));
}

export function onDraft(listener: (id: string) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
