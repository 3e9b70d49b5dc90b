import { useDerived } from '@/live/hooks';

/** How many conversations have something new. */
export function useUnread(): number {
  return useDerived(
    (live) => [live.conversations],
    (live) => Object.values(live.conversations).filter((one) => !one.archived && (one.unread ?? 0) > 0).length,
  );
}
