/** What `moot status` answers, kept fresh by events: who needs you, who works, what was done. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { get } from '@/api/client';
import type { Decision, HubEvent, Message } from '@/api/shapes';
import { useEvents } from '@/live/hooks';

export interface NowRow {
  what:
    | 'question'
    | 'unread'
    | 'failed'
    | 'broken'
    | 'paused'
    | 'away'
    | 'left'
    | 'worktree'
    | 'quarantine'
    | 'working'
    | 'done';
  agent: string;
  conversation: string;
  conversation_id: string;
  turn: string;
  state: string;
  since: string | null;
  at: string | null;
  count: number;
  message: Message | null;
  decision: Decision | null;
  error: string | null;
  /** What can be done: requests, or words. */
  fix: unknown[];
}

export interface NowAnswer {
  needs_you: NowRow[];
  working: NowRow[];
  done: NowRow[];
  brakes: {
    rule: string;
    conversation: string;
    conversation_id: string;
    agents: string[];
    detail: string;
    seconds: number | null;
  }[];
}

const KEY = ['now'];
/** The first news is asked about at once, what comes on its heels together. */
const EVERY_MS = 600;
const SETTLES_MS = 50;
/** A browser's clock may be ahead of the hub's; a timer that is set for too long ends at once. */
const SHORTEST_MS = 1_000;
const LONGEST_MS = 3_600_000;
const TELLING = /^(decision\.|brake\.|turn\.finished|turn\.started|agent\.|message\.posted|conversation\.)/;

export function useNowAnswer(): NowAnswer | undefined {
  return useQuery({
    queryKey: KEY,
    queryFn: () => get<NowAnswer>('/api/now?limit=200'),
    staleTime: 30_000,
    retry: false,
    refetchInterval: ({ state }) => nextEnd(state.data?.needs_you.map((row) => row.decision) ?? [], Date.now()),
  }).data;
}

/** In how many ms the first open question ends by itself, of which no event tells. */
export function nextEnd(decisions: readonly (Decision | null)[], now: number): number | false {
  const open = decisions.filter((one) => one?.state === 'open');
  const ends = open.map((one) => Date.parse(one?.until ?? '')).filter(Number.isFinite);
  return ends.length ? Math.min(LONGEST_MS, Math.max(SHORTEST_MS, Math.min(...ends) - now)) : false;
}

/** Mounted once, in the shell. */
export function useFreshNow(): void {
  const queries = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const asked = useRef(0);
  useEvents((event: HubEvent) => {
    if (!TELLING.test(event.type) || timer.current) return;
    timer.current = setTimeout(
      () => {
        timer.current = null;
        asked.current = Date.now();
        void queries.invalidateQueries({ queryKey: KEY });
      },
      Math.max(SETTLES_MS, asked.current + EVERY_MS - Date.now()),
    );
  });
}

export const keyOf = (row: NowRow): string => {
  const when = row.what === 'quarantine' ? row.since : '';
  return [row.what, row.agent, row.conversation_id, row.turn, row.decision?.id, when].join(' ');
};

export const needing = (now: NowAnswer | undefined): NowRow[] =>
  (now?.needs_you ?? []).filter((row) => row.what !== 'unread');
