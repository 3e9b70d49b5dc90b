/** What `moot status` answers, kept fresh by events: who needs you, who works, what was done. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { get } from '@/api/client';
import type { Decision, HubEvent, Message } from '@/api/shapes';
import { useEvents } from '@/live/hooks';

export interface NowRow {
  what: 'question' | 'unread' | 'failed' | 'broken' | 'paused' | 'away' | 'left' | 'worktree' | 'working' | 'done';
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
const TELLING = /^(decision\.|brake\.|turn\.finished|turn\.started|agent\.|message\.posted|conversation\.)/;

export function useNowAnswer(): NowAnswer | undefined {
  return useQuery({
    queryKey: KEY,
    queryFn: () => get<NowAnswer>('/api/now?limit=200'),
    staleTime: 30_000,
    retry: false,
  }).data;
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

export const needing = (now: NowAnswer | undefined): NowRow[] =>
  (now?.needs_you ?? []).filter((row) => row.what !== 'unread');
