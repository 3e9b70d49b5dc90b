/** One conversation: header, transcript, composer, and a panel that explains or sets. */
import { useEffect, useState } from 'react';
import { call, errorText } from '@/api/client';
import type { Message } from '@/api/shapes';
import { useLive, useStore } from '@/live/hooks';
import { useToast } from '@/parts/Toasts';
import { words } from '@/words';
import { Composer } from './Composer';
import { DetailsPanel } from './DetailsPanel';
import { Header } from './Header';
import { Messages } from './Messages';
import { WhyPanel } from './WhyPanel';

export type Panel = { kind: 'why'; message: string } | { kind: 'details' } | null;

function Banners({ id }: { id: string }) {
  const toast = useToast();
  const archived = useLive((live) => live.conversations[id]?.archived ?? false);
  const brake = useLive((live) => live.brakes[id]);
  const act = async (verb: 'unarchive' | 'continue') => {
    try {
      await call('POST', `/api/conversations/${encodeURIComponent(id)}/${verb}`);
    } catch (error) {
      toast(errorText(error), { bad: true });
    }
  };
  return (
    <>
      {archived && (
        <div className="notice conversation__notice">
          <span className="grow">{words.chat.archivedBanner}</span>
          <button type="button" className="plain-button plain-button--line" onClick={() => act('unarchive')}>
            {words.chat.restore}
          </button>
        </div>
      )}
      {brake && (
        <div className="notice conversation__notice" data-testid="brake">
          <span className="grow">‖ {words.chat.paused(brake.reason)}</span>
          <button type="button" className="plain-button plain-button--line" onClick={() => act('continue')}>
            {words.chat.resume}
          </button>
        </div>
      )}
    </>
  );
}

export function Conversation({ id, seq }: { id: string; seq: number | null }) {
  const store = useStore();
  const [panel, setPanel] = useState<Panel>(null);
  const [replyTo, setReplyTo] = useState<Message | null>(null);
  const archived = useLive((live) => live.conversations[id]?.archived ?? false);
  useEffect(() => {
    void (seq ? store.reach(id, seq) : store.want(id));
  }, [store, id, seq]);
  return (
    <div className={panel ? 'conversation conversation--panel' : 'conversation'}>
      <div className="conversation__main">
        <Header id={id} onDetails={() => setPanel(panel?.kind === 'details' ? null : { kind: 'details' })} />
        <Banners id={id} />
        <Messages
          id={id}
          seq={seq}
          onWhy={(message) => setPanel({ kind: 'why', message })}
          onReply={(message) => {
            setReplyTo(message);
            document.querySelector<HTMLElement>('[data-composer]')?.focus();
          }}
        />
        {!archived && (
          <Composer
            id={id}
            replyTo={replyTo}
            onReplied={() => setReplyTo(null)}
            onWhy={(message) => setPanel({ kind: 'why', message })}
          />
        )}
      </div>
      {panel?.kind === 'why' && <WhyPanel id={id} message={panel.message} onClose={() => setPanel(null)} />}
      {panel?.kind === 'details' && <DetailsPanel id={id} onClose={() => setPanel(null)} />}
    </div>
  );
}
