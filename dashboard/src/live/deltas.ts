/** Pieces of running turns, beside the store: collected as they come, shown at most twenty times a second. */

export interface Piece {
  turn: string;
  agent: string;
  conversation: string;
  text: string;
}

const EVERY_MS = 50;
const NONE: readonly Piece[] = [];

export class Deltas {
  private texts = new Map<string, Piece>();
  private shown = new Map<string, readonly Piece[]>();
  private listeners = new Set<() => void>();
  private timer: ReturnType<typeof setTimeout> | null = null;

  /** `offset` is how much was said before this piece: nothing doubles, and what was missed is not papered over. */
  add(conversation: string, turn: string, agent: string, text: string, offset?: number): void {
    const before = this.texts.get(turn)?.text ?? '';
    const said = offset === undefined ? before + text : before.slice(0, offset) + text;
    this.texts.set(turn, { turn, agent, conversation, text: said });
    this.later();
  }

  drop(turn: string): void {
    if (this.texts.delete(turn)) this.flush();
  }

  clear(): void {
    this.texts.clear();
    this.flush();
  }

  of(conversation: string): readonly Piece[] {
    return this.shown.get(conversation) ?? NONE;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private later(): void {
    this.timer ??= setTimeout(() => this.flush(), EVERY_MS);
  }

  private flush(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    const shown = new Map<string, Piece[]>();
    for (const piece of this.texts.values()) {
      const before = shown.get(piece.conversation);
      if (before) before.push(piece);
      else shown.set(piece.conversation, [piece]);
    }
    this.shown = shown;
    for (const listener of this.listeners) listener();
  }
}
