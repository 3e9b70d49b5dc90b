/**
 * One event stream per browser. The tab that holds the lock follows the hub and passes everything on to the others;
 * a hidden one gives the lock up as soon as a visible one wants it. Where locks are missing (plain http on a network),
 * every tab follows by itself.
 */
import type { HubEvent } from '@/api/shapes';

export type Note =
  | { kind: 'event'; prev: number; event: HubEvent }
  | { kind: 'cursor'; prev: number; position: number }
  | { kind: 'reset' }
  | { kind: 'line'; lostAt: number | null }
  | { kind: 'hello' }
  | { kind: 'want' }
  | { kind: 'read'; conversation: string; seq: number };

const LOCK = 'moot-stream';

export interface Lead {
  lead(signal: AbortSignal): Promise<void>;
  receive(note: Note): void;
}

export class Tabs {
  private channel = new BroadcastChannel('moot-live');
  private handover: AbortController | null = null;
  leading = false;

  constructor(private readonly lead: Lead) {
    this.channel.onmessage = ({ data }: MessageEvent<Note>) => this.take(data);
    document.addEventListener('visibilitychange', this.seen);
  }

  tell(note: Note): void {
    this.channel.postMessage(note);
  }

  async run(signal: AbortSignal): Promise<void> {
    this.tell({ kind: 'hello' });
    if (document.visibilityState === 'visible') this.tell({ kind: 'want' });
    while (!signal.aborted) {
      try {
        if (!navigator.locks) await this.turn(signal);
        else await navigator.locks.request(LOCK, { signal }, () => this.turn(signal));
      } catch {
        if (signal.aborted) return;
      }
      // Whoever asked for the lock stands in line before this tab asks again.
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  close(): void {
    document.removeEventListener('visibilitychange', this.seen);
    this.handover?.abort();
    this.channel.close();
  }

  private async turn(signal: AbortSignal): Promise<void> {
    this.handover = new AbortController();
    this.leading = true;
    try {
      await this.lead.lead(AbortSignal.any([signal, this.handover.signal]));
    } finally {
      this.leading = false;
      this.handover = null;
    }
  }

  private take(note: Note): void {
    if (note.kind === 'want') {
      if (this.leading && document.visibilityState === 'hidden' && navigator.locks) this.handover?.abort();
      return;
    }
    this.lead.receive(note);
  }

  private seen = () => {
    if (document.visibilityState === 'visible' && !this.leading) this.tell({ kind: 'want' });
  };
}
