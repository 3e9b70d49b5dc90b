/** What went over links in the last hour, and what was refused there: counted once, then kept up by events. Outside React. */
import { createContext, useContext, useSyncExternalStore } from 'react';
import { at as address, get } from '@/api/client';
import type { AuditEntry, Link, Message } from '@/api/shapes';
import type { Live } from '@/live/state';
import { refusalText } from '@/parts/refusals';
import { between } from './graph';
import type { Passed } from './replay';

export const HOUR_MS = 3_600_000;
/** How long a refusal stays marked on the map. */
export const MARKED_MS = 60_000;
const MOST = 500;

export interface Refusal {
  /** When it was last refused. */
  at: number;
  from: string;
  count: number;
  sentence: string;
}

/** What passed over links since a moment; channels in which nothing was said since are not asked for. */
export async function passedSince(live: Live, since: number): Promise<Passed[]> {
  const first = new Date(since).toISOString();
  const busy = Object.values(live.links).filter((link) => (live.conversations[link.channel]?.last?.at ?? '') >= first);
  const found = await Promise.all(
    busy.map(async (link): Promise<Passed[]> => {
      const path = `/api/links/${encodeURIComponent(link.id)}/messages`;
      const page = await get<{ messages: Message[] }>(address(path, { before: Number.MAX_SAFE_INTEGER, limit: MOST }));
      return page.messages
        .filter((message) => (message.at ?? '') >= first && message.kind !== 'system')
        .map(({ at, from, seq }) => ({ at: Date.parse(at ?? ''), channel: link.channel, from, seq }));
    }),
  );
  return found.flat();
}

/** Refusals by the link over which they were to go; the newest of each pair. */
export function refusalsOf(entries: readonly AuditEntry[], links: readonly Link[]): Map<string, Refusal> {
  const found = new Map<string, Refusal>();
  for (const entry of entries) {
    const detail = entry.detail as { link?: string; to?: string };
    const from = entry.on_behalf_of || entry.by;
    const link = links.find((one) => one.id === detail.link) ?? between(links, from, detail.to ?? '');
    if (!link) continue;
    const at = Date.parse(entry.last_at ?? entry.at ?? '');
    const before = found.get(link.id);
    const count = entry.count + (before?.count ?? 0);
    const newest = before && before.at >= at ? before : { at, from, sentence: refusalText({ ...entry, count: 1 }) };
    found.set(link.id, { ...newest, count });
  }
  return found;
}

const keyOf = (one: Passed): string => `${one.channel} ${one.seq}`;

export class Traffic {
  private passed: Passed[] = [];
  private counts = new Map<string, number>();
  private refusals = new Map<string, Refusal>();
  private listeners = new Set<() => void>();
  /** Grows when counts were made anew, at most every few seconds: for what need not follow every message. */
  version = 0;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  /** What events told of meanwhile is kept, and counted once. */
  load(passed: readonly Passed[], now: number): void {
    const known = new Set(passed.map(keyOf));
    this.passed = [...passed, ...this.passed.filter((one) => !known.has(keyOf(one)))];
    this.tick(now);
  }

  add(one: Passed): void {
    this.passed.push(one);
    this.counts.set(one.channel, (this.counts.get(one.channel) ?? 0) + 1);
    this.notify();
  }

  refused(refusals: Map<string, Refusal>): void {
    this.refusals = refusals;
    this.notify();
  }

  /** What is older than an hour no longer counts. */
  tick(now: number): void {
    this.passed = this.passed.filter((one) => one.at > now - HOUR_MS);
    this.counts = new Map();
    for (const one of this.passed) this.counts.set(one.channel, (this.counts.get(one.channel) ?? 0) + 1);
    this.version += 1;
    this.notify();
  }

  count = (channel: string): number => this.counts.get(channel) ?? 0;
  refusal = (link: string): Refusal | undefined => this.refusals.get(link);

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}

export const TrafficContext = createContext<Traffic>(new Traffic());

export function useCount(channel: string): number {
  const traffic = useContext(TrafficContext);
  return useSyncExternalStore(traffic.subscribe, () => traffic.count(channel));
}

export function useLinkRefusal(link: string): Refusal | undefined {
  const traffic = useContext(TrafficContext);
  return useSyncExternalStore(traffic.subscribe, () => traffic.refusal(link));
}

export function useTrafficVersion(): number {
  const traffic = useContext(TrafficContext);
  return useSyncExternalStore(traffic.subscribe, () => traffic.version);
}
