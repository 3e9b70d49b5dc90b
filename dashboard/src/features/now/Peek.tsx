/** The last words of a conversation and a reply, without leaving the page. */
import { type FormEvent, useEffect, useState } from 'react';
import { useLive, usePieces, useStore } from '@/live/hooks';
import { newKey } from '@/live/outbox';
import { HubLine } from '@/parts/chat/HubLine';
import { Name } from '@/parts/Mark';
import { SidePanel } from '@/parts/SidePanel';
import { useTitle } from '@/parts/talks';
import { words } from '@/words';

const SHOWN = 6;

export function Peek({ id, onClose }: { id: string; onClose: () => void }) {
  const store = useStore();
  const thread = useLive((live) => live.threads[id]);
  const name = useTitle(id);
  const pieces = usePieces(id);
  const [text, setText] = useState('');
  useEffect(() => void store.want(id), [store, id]);
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (!text.trim()) return;
    store.outbox.post({ key: newKey(), conversation: id, text: text.trim(), at: new Date().toISOString() });
    setText('');
  };
  return (
    <SidePanel title={name} onClose={onClose}>
      {(thread?.messages ?? []).slice(-SHOWN).map((message) => (
        <div key={message.seq}>
          {message.kind === 'system' ? (
            <span className="muted small">
              <HubLine text={message.text} />
            </span>
          ) : (
            <>
              <Name name={message.from} />
              <div className="peek__text">{message.text.slice(0, 400)}</div>
            </>
          )}
        </div>
      ))}
      {pieces.map((piece) => (
        <div key={piece.turn}>
          <Name name={piece.agent} /> <span className="chip">{words.chat.writing(piece.agent)}</span>
          <div className="peek__text">{piece.text}</div>
        </div>
      ))}
      <form onSubmit={send} className="row">
        <input
          className="field"
          value={text}
          onChange={(event) => setText(event.target.value)}
          aria-label={words.chat.composer}
          placeholder={words.chat.placeholder(name)}
        />
        <button type="submit" className="plain-button plain-button--main">
          {words.chat.send}
        </button>
      </form>
    </SidePanel>
  );
}
