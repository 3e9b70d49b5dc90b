/** Keeps the last hour's traffic of the map: read once, followed by events; refusals are asked for while one looks. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { at, get } from '@/api/client';
import type { AuditEntry, Message } from '@/api/shapes';
import { useEvents, useLive, useStore } from '@/live/hooks';
import { HOUR_MS, passedSince, refusalsOf, Traffic } from './traffic';

const TICK_MS = 15_000;
const REFUSALS_MS = 4_000;

export function useTraffic(): Traffic {
  const store = useStore();
  const owner = useLive((live) => live.owner);
  const [traffic] = useState(() => new Traffic());
  useEffect(() => {
    let over = false;
    void passedSince(store.state, Date.now() - HOUR_MS)
      .then((passed) => over || traffic.load(passed, Date.now()))
      .catch(() => {});
    const timer = setInterval(() => traffic.tick(Date.now()), TICK_MS);
    return () => {
      over = true;
      clearInterval(timer);
    };
  }, [store, traffic]);
  useEvents((event) => {
    if (event.type !== 'message.posted' || !event.conversation?.startsWith('link:')) return;
    const { kind, seq } = event.body as unknown as Message;
    if (kind === 'system') return;
    traffic.add({ at: Date.parse(event.at), channel: event.conversation, from: event.by ?? '', seq });
  });
  const refusals = useQuery({
    queryKey: ['refused this hour'],
    queryFn: async () => {
      const since = new Date(Date.now() - HOUR_MS).toISOString();
      return (await get<{ entries: AuditEntry[] }>(at('/api/audit', { acts: 'refused', since, limit: 200 }))).entries;
    },
    enabled: owner,
    refetchInterval: REFUSALS_MS,
    retry: false,
  });
  const links = useLive((live) => live.links);
  useEffect(() => {
    if (refusals.data) traffic.refused(refusalsOf(refusals.data, Object.values(links)));
  }, [refusals.data, links, traffic]);
  return traffic;
}
