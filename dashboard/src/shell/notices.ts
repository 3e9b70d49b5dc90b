/** Notifications of the browser, while the page is hidden: those that somebody chose under Settings, once per browser. */
import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { useEvents, useStore } from '@/live/hooks';
import { type News, newRows, newsOfEvent, newsOfRow } from '@/parts/news';
import { type NowRow, useNowAnswer } from '@/parts/now';
import { noticeKinds } from '@/parts/preferences';
import { titleIn } from '@/parts/talks';

export function useNotices(): void {
  const store = useStore();
  const answer = useNowAnswer();
  const [, go] = useLocation();
  const before = useRef<readonly NowRow[] | null>(null);
  const show = useRef<(news: News) => void>(() => {});
  show.current = ({ kind, key, title, text, href }) => {
    // A tab that is seen leads: so where one leads and is hidden, nobody sees any.
    const unseen = document.visibilityState === 'hidden' && store.leads;
    if (!unseen || !noticeKinds().includes(kind) || window.Notification?.permission !== 'granted') return;
    try {
      const notice = new Notification(title, { body: text, tag: key });
      notice.onclick = () => {
        window.focus();
        go(href);
        notice.close();
      };
    } catch {
      // Some browsers on phones have the class and refuse its use: Now and the title still tell.
    }
  };
  useEffect(() => {
    if (!answer) return;
    if (before.current)
      for (const row of newRows(before.current, answer.needs_you))
        show.current(newsOfRow(row, titleIn(store.state, row.conversation_id || row.conversation)));
    before.current = answer.needs_you;
  }, [answer, store]);
  useEvents((event) => {
    const news = newsOfEvent(event, store.state.self, titleIn(store.state, event.conversation ?? ''));
    if (news) show.current(news);
  });
}
