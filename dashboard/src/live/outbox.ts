/**
 * What was written and is not known to be stored. A message has a key from the moment Enter is pressed; it is sent with
 * that key until the hub answers, also after a reload: the hub stores it once.
 */
import { call, Refused, Unreachable } from '@/api/client';
import type { Message, Problem, Receipt } from '@/api/shapes';

export interface Pending {
  key: string;
  conversation: string;
  text: string;
  at: string;
  interrupt?: boolean;
  force?: string[];
  reply_to?: string;
}

/** A message the hub did not take: its text goes back to where it was written. */
export interface Refusal {
  text: string;
  problem: Problem;
}

const SHELF = 'moot.outbox';
const LONGEST_MS = 5_000;

/** `crypto.randomUUID` is missing on plain http beyond loopback. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const NONE: readonly Pending[] = [];

export class Outbox {
  private waiting: Pending[];
  private lists = new Map<string, readonly Pending[]>();
  private listeners = new Set<() => void>();
  onReceipt: (pending: Pending, receipt: Receipt) => void = () => {};
  private refusals = new Map<string, Refusal>();

  constructor(private readonly shelf: Storage) {
    try {
      this.waiting = JSON.parse(shelf.getItem(SHELF) ?? '[]');
    } catch {
      this.waiting = [];
    }
    this.sort();
  }

  of = (conversation: string): readonly Pending[] => this.lists.get(conversation) ?? NONE;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  refusal = (conversation: string): Refusal | null => this.refusals.get(conversation) ?? null;

  forgive(conversation: string): void {
    if (this.refusals.delete(conversation)) this.keep();
  }

  /** After a reload: everything that may or may not have arrived is sent again with its key. */
  resume(): void {
    for (const pending of this.waiting) void this.send(pending);
  }

  post(pending: Pending): void {
    this.waiting.push(pending);
    this.keep();
    void this.send(pending);
  }

  /** A stored message of ours tells that its post arrived, even before the answer does. */
  stored(message: Message): void {
    const key = message.metadata?.correlation_id;
    if (typeof key === 'string' && message.kind === 'human') this.done(key);
  }

  clear(): void {
    this.waiting = [];
    this.keep();
  }

  private async send(pending: Pending): Promise<void> {
    const { key, conversation, at: _at, ...rest } = pending;
    const body = { ...rest, correlation_id: key };
    for (let attempt = 0; this.waiting.includes(pending); attempt += 1) {
      try {
        const path = `/api/conversations/${encodeURIComponent(conversation)}/messages`;
        const receipt = await call<Receipt>('POST', path, body, { 'Idempotency-Key': key });
        this.onReceipt(pending, receipt);
        return;
      } catch (error) {
        if (error instanceof Refused && error.problem.status < 500) {
          this.refusals.set(conversation, { text: pending.text, problem: error.problem });
          this.done(key);
          return;
        }
        if (!(error instanceof Unreachable) && !(error instanceof Refused)) throw error;
        await new Promise((resolve) => setTimeout(resolve, Math.min(LONGEST_MS, 300 * 2 ** attempt)));
      }
    }
  }

  private done(key: string): void {
    const left = this.waiting.filter((one) => one.key !== key);
    if (left.length === this.waiting.length) return;
    this.waiting = left;
    this.keep();
  }

  private keep(): void {
    this.shelf.setItem(SHELF, JSON.stringify(this.waiting));
    this.sort();
    for (const listener of this.listeners) listener();
  }

  private sort(): void {
    this.lists = new Map();
    for (const pending of this.waiting) {
      this.lists.set(pending.conversation, [...(this.lists.get(pending.conversation) ?? []), pending]);
    }
  }
}
