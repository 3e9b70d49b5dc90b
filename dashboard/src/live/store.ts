/**
 * The one store of the page: a snapshot, then events, from this tab's own stream or from the tab that leads.
 * React reads it with `useLive`; nothing here knows React.
 */
import { call } from '@/api/client';
import type { HubEvent, Message } from '@/api/shapes';
import { Deltas } from './deltas';
import { type Note, Tabs } from './leader';
import { Outbox } from './outbox';
import { placed, reduce } from './reduce';
import { PAGE, readBefore, readSnapshot, readThread, runningTexts } from './snapshot';
import { EMPTY, type Live } from './state';
import { follow } from './stream';

export interface Line {
  /** Since when nothing comes in; null while it does. */
  lostAt: number | null;
  ready: boolean;
  error: string | null;
}

const KEPT_THREADS = 24;

export class Store {
  state: Live = EMPTY;
  line: Line = { lostAt: null, ready: false, error: null };
  readonly deltas = new Deltas();
  readonly outbox: Outbox;
  /** Called for each stored event that is new: pulses, the announcer, the title. */
  readonly watchers = new Set<(event: HubEvent) => void>();
  private listeners = new Set<() => void>();
  private tabs: Tabs;
  private ending = new AbortController();
  private held: Note[] | null = [];
  private reading = new Map<string, Promise<void>>();
  /** What came in by events while a thread was read: the answer may be older. */
  private arriving = new Map<string, Message[]>();
  private recent: string[] = [];
  /** How often everything was read again: an answer to an earlier question may be older than what is known. */
  private readings = 0;

  constructor(shelf: Storage) {
    this.outbox = new Outbox(shelf);
    this.outbox.onReceipt = (pending, receipt) => void this.receipted(pending.conversation, receipt.seq);
    this.tabs = new Tabs({ lead: (signal) => this.lead(signal), receive: (note) => this.receive(note) });
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  async open(): Promise<void> {
    void this.tabs.run(this.ending.signal);
    await this.resync();
    this.outbox.resume();
  }

  /** Whether this tab is the one of the browser that follows the hub. */
  get leads(): boolean {
    return this.tabs.leading;
  }

  close(): void {
    this.ending.abort();
    this.tabs.close();
  }

  /** Reads everything again, then continues with what came in meanwhile. */
  async resync(): Promise<void> {
    this.held ??= [];
    for (let attempt = 0; !this.ending.signal.aborted; attempt += 1) {
      try {
        const fresh = await this.snapshot();
        this.readings += 1;
        this.state = {
          ...fresh,
          versions: mapped(this.state.versions, (count) => count + 1),
          traffic: this.state.traffic,
        };
        for (const message of Object.values(fresh.threads).flatMap((thread) => thread.messages))
          this.outbox.stored(message);
        this.deltas.clear();
        for (const { conversation, turn, agent, text, offset } of await runningTexts()) {
          this.deltas.add(conversation, turn, agent, text, offset);
        }
        break;
      } catch (error) {
        this.setLine({ error: String(error), lostAt: this.line.lostAt ?? Date.now() });
        await new Promise((resolve) => setTimeout(resolve, Math.min(3000, 250 * 2 ** attempt)));
      }
    }
    const held = this.held ?? [];
    this.held = null;
    this.setLine({ ready: true, error: null, ...(this.tabs.leading ? {} : { lostAt: null }) });
    for (const note of held) this.take(note);
    this.changed();
  }

  /** With the threads one looks at, also of conversations that were opened while it was read. */
  private async snapshot(): Promise<Live> {
    const wanted = this.recent.slice(0, KEPT_THREADS);
    const fresh = await readSnapshot(wanted);
    const threads = { ...fresh.threads };
    const read = new Set(wanted);
    for (;;) {
      const opened = this.recent.slice(0, KEPT_THREADS).filter((id) => !read.has(id));
      if (!opened.length) return { ...fresh, threads };
      for (const id of opened) {
        const thread = await readThread(id);
        if (thread) threads[id] = thread;
        read.add(id);
      }
    }
  }

  /** Loads the newest page of a conversation, once; later calls find it there. */
  async want(id: string): Promise<void> {
    this.recent = [id, ...this.recent.filter((one) => one !== id)];
    const thread = this.state.threads[id];
    if (thread && !thread.stale) return;
    await this.single(`thread ${id}`, () => this.load(id));
  }

  /** Reads everything from a message on, for permalinks into the past. */
  async reach(id: string, seq: number): Promise<void> {
    await this.want(id);
    for (
      let thread = this.state.threads[id];
      thread && !thread.whole && (thread.messages[0]?.seq ?? 0) > seq;
      thread = this.state.threads[id]
    ) {
      await this.older(id);
    }
  }

  async older(id: string): Promise<void> {
    const first = this.state.threads[id]?.messages[0];
    if (!first || this.state.threads[id]?.whole) return;
    await this.single(`older ${id}`, async () => {
      const messages = await readBefore(id, first.seq);
      const thread = this.state.threads[id];
      if (!thread || thread.messages[0]?.seq !== first.seq) return;
      this.setThread(id, { ...thread, messages: [...messages, ...thread.messages], whole: messages.length < PAGE });
    });
  }

  async markRead(id: string, seq: number): Promise<void> {
    const conversation = this.state.conversations[id];
    if (!conversation?.unread) return;
    this.readTo(id);
    this.tabs.tell({ kind: 'read', conversation: id, seq });
    await call('POST', `/api/conversations/${encodeURIComponent(id)}/read`, { seq }).catch(() => {});
  }

  /** Something this tab just learned as the answer of a request; events will say it again. */
  learn(change: (state: Live) => Live): void {
    this.state = change(this.state);
    this.changed();
  }

  private async load(id: string): Promise<void> {
    const before = this.state.threads[id]?.messages.at(-1)?.seq ?? 0;
    const arrived: Message[] = [];
    const readings = this.readings;
    this.arriving.set(id, arrived);
    const thread = await this.persistently(() => readThread(id)).finally(() => this.arriving.delete(id));
    if (!thread || (readings !== this.readings && this.state.threads[id])) return;
    this.setThread(id, arrived.reduce(placed, thread));
    for (const message of thread.messages) if (message.seq > before) this.outbox.stored(message);
  }

  /** A line that is down is no answer: asked again until there is one. */
  private async persistently<T>(read: () => Promise<T>): Promise<T | null> {
    for (let attempt = 0; !this.ending.signal.aborted; attempt += 1) {
      try {
        return await read();
      } catch {
        await new Promise((resolve) => setTimeout(resolve, Math.min(3000, 250 * 2 ** attempt)));
      }
    }
    return null;
  }

  private async receipted(id: string, seq: number): Promise<void> {
    // The event usually comes first. If the line is down, the message is read instead.
    const known = this.state.threads[id]?.messages.at(-1)?.seq ?? 0;
    if (known >= seq) return;
    await new Promise((resolve) => setTimeout(resolve, 1500));
    if ((this.state.threads[id]?.messages.at(-1)?.seq ?? 0) < seq)
      await this.single(`thread ${id}`, () => this.load(id));
  }

  private single(key: string, work: () => Promise<void>): Promise<void> {
    const going = this.reading.get(key) ?? work().finally(() => this.reading.delete(key));
    this.reading.set(key, going);
    return going;
  }

  private setThread(id: string, thread: Live['threads'][string]): void {
    this.state = { ...this.state, threads: { ...this.state.threads, [id]: thread } };
    this.changed();
  }

  private async lead(signal: AbortSignal): Promise<void> {
    await follow(
      () => this.reached(signal),
      {
        event: (event) => this.pass({ kind: 'event', prev: this.state.position, event }),
        cursor: (position) => this.pass({ kind: 'cursor', prev: this.state.position, position }),
        reset: () => this.pass({ kind: 'reset' }),
        live: () => this.pass({ kind: 'line', lostAt: null }),
        lost: () => this.pass({ kind: 'line', lostAt: this.line.lostAt ?? Date.now() }),
      },
      signal,
    );
  }

  /** From where the stream continues: known once everything has been read. */
  private async reached(signal: AbortSignal): Promise<number> {
    while (this.held && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, 20));
    return this.state.position;
  }

  private pass(note: Note): void {
    this.tabs.tell(note);
    this.take(note);
  }

  private receive(note: Note): void {
    if (note.kind === 'hello') {
      if (this.tabs.leading) this.tabs.tell({ kind: 'line', lostAt: this.line.lostAt });
    } else this.take(note);
  }

  private take(note: Note): void {
    if (this.held && note.kind !== 'line') {
      this.held.push(note);
      return;
    }
    switch (note.kind) {
      case 'event':
        if (note.event.id && note.prev > this.state.position) void this.resync();
        else this.apply(note.event);
        return;
      case 'cursor':
        if (note.prev > this.state.position) void this.resync();
        else if (note.position > this.state.position) this.state = { ...this.state, position: note.position };
        return;
      case 'reset':
        this.state = { ...this.state, position: 0 };
        void this.resync();
        return;
      case 'line':
        this.setLine({ lostAt: note.lostAt });
        return;
      case 'read':
        this.readTo(note.conversation);
        return;
      default:
    }
  }

  private apply(event: HubEvent): void {
    if (event.type === 'turn.delta') {
      const { turn, agent, text, offset } = event.body as {
        turn: string;
        agent: string;
        text: string;
        offset?: number;
      };
      this.deltas.add(event.conversation ?? '', turn, agent, text, offset);
      return;
    }
    const before = this.state;
    this.state = reduce(before, event);
    if (event.type.startsWith('message.'))
      this.arriving.get(event.conversation ?? '')?.push(event.body as unknown as Message);
    if (event.type === 'turn.finished') this.deltas.drop(String(event.body?.id));
    if (event.type === 'message.posted') this.outbox.stored(event.body as unknown as Message);
    if (event.type === 'agent.renamed') void this.resync();
    const stale = event.conversation && this.state.threads[event.conversation]?.stale;
    if (stale) void this.single(`thread ${event.conversation}`, () => this.load(event.conversation as string));
    if (event.id) for (const watcher of this.watchers) watcher(event);
    if (this.state !== before) this.changed();
  }

  private readTo(id: string): void {
    const conversation = this.state.conversations[id];
    if (!conversation?.unread) return;
    this.state = {
      ...this.state,
      conversations: { ...this.state.conversations, [id]: { ...conversation, unread: 0 } },
    };
    this.changed();
  }

  private setLine(change: Partial<Line>): void {
    this.line = { ...this.line, ...change };
    this.changed();
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}

function mapped<K extends string>(record: Record<K, number>, change: (count: number) => number): Record<K, number> {
  return Object.fromEntries(Object.entries<number>(record).map(([key, count]) => [key, change(count)])) as Record<
    K,
    number
  >;
}
