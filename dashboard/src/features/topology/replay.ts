/** What passed over links, at any moment of the last hours: for looking back on the map. Outside React. */
import { createContext, useContext, useEffect, useRef, useSyncExternalStore } from 'react';

export interface Passed {
  at: number;
  channel: string;
  from: string;
  seq: number;
}

/** How much passed over each channel up to a moment. */
export function countsAt(passed: readonly Passed[], at: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of passed) if (one.at <= at) counts.set(one.channel, (counts.get(one.channel) ?? 0) + 1);
  return counts;
}

export class Replay {
  /** The moment that is shown; null while the map is live. */
  at: number | null = null;
  passed: readonly Passed[] = [];
  private counts = new Map<string, number>();
  private listeners = new Set<() => void>();
  readonly watchers = new Set<(passed: Passed) => void>();

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  load(passed: readonly Passed[]): void {
    this.passed = passed.toSorted((a, b) => a.at - b.at);
    this.show(this.at);
  }

  /** Jumps to a moment, silently. */
  show(at: number | null): void {
    this.at = at;
    this.counts = at === null ? new Map() : countsAt(this.passed, at);
    for (const listener of this.listeners) listener();
  }

  /** Goes on to a moment; what passed on the way is told. */
  run(to: number): void {
    const from = this.at ?? to;
    this.show(to);
    for (const one of this.passed) if (one.at > from && one.at <= to) for (const watcher of this.watchers) watcher(one);
  }

  count = (channel: string): number | null => (this.at === null ? null : (this.counts.get(channel) ?? 0));
}

export const ReplayContext = createContext<Replay>(new Replay());

/** How much had passed over a channel at the moment that is shown; null while the map is live. */
export function useReplayed(channel: string, watch: (passed: Passed) => void): number | null {
  const replay = useContext(ReplayContext);
  const newest = useRef(watch);
  newest.current = watch;
  useEffect(() => {
    const watcher = (one: Passed) => void (one.channel === channel && newest.current(one));
    replay.watchers.add(watcher);
    return () => void replay.watchers.delete(watcher);
  }, [replay, channel]);
  return useSyncExternalStore(replay.subscribe, () => replay.count(channel));
}
