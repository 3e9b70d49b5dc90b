/** What this browser notifies of. It is asked for leave by a click here, never before. */
import { useState } from 'react';
import { Switch } from '@/parts/Fields';
import { NOTICE_KINDS, type NoticeKind, noticeKinds, setNoticeKinds } from '@/parts/preferences';
import { words } from '@/words';

/** What the browser says to notifications of this page; a page off this machine without https gets none. */
const leave = (): NotificationPermission | 'missing' => window.Notification?.permission ?? 'missing';

export function Notices() {
  const [kinds, setKinds] = useState(noticeKinds);
  const [state, setState] = useState(leave);
  const choose = async (kind: NoticeKind, on: boolean) => {
    if (on && leave() === 'default') await Notification.requestPermission();
    setState(leave());
    if (on && leave() !== 'granted') return;
    const next = NOTICE_KINDS.filter((one) => (one === kind ? on : kinds.includes(one)));
    setNoticeKinds(next);
    setKinds(next);
  };
  const refused = state === 'denied' || state === 'missing';
  return (
    <section className="stack settings__section" aria-labelledby="notices">
      <div>
        <h2 id="notices" className="label">
          {words.notices.title}
        </h2>
        <p className="muted small">{words.notices.text}</p>
      </div>
      {refused && <p className="notice">{words.notices[state]}</p>}
      {NOTICE_KINDS.map((kind) => (
        <Switch
          key={kind}
          label={words.notices.kinds[kind]}
          checked={!refused && kinds.includes(kind)}
          disabled={refused}
          onChange={(on) => void choose(kind, on)}
        />
      ))}
    </section>
  );
}
