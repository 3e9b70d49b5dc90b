/** All conversations: unread first, then by kind, newest first. */
import { memo, useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { Conversation } from '@/api/shapes';
import { useLive } from '@/live/hooks';
import { Mark } from '@/parts/Mark';
import { hrefOf, lineIn, titleIn } from '@/parts/talks';
import { clockTime } from '@/parts/time';
import { words } from '@/words';
import { sectionsOf } from './sections';

const Row = memo(function Row({
  conversation,
  self,
  here,
}: {
  conversation: Conversation;
  self: string;
  here: boolean;
}) {
  const paused = useLive((live) => conversation.id in live.brakes);
  const title = useLive((live) => titleIn(live, conversation.id));
  const tasks = useLive((live) => live.tasks);
  const unread = conversation.unread ?? 0;
  const other = conversation.kind === 'direct' ? conversation.participants.find((seat) => seat.name !== self) : null;
  return (
    <Link href={hrefOf(conversation.id)} className="chat-row" aria-current={here ? 'page' : undefined}>
      {other ? (
        <Mark name={other.name} mark={other.mark} filled />
      ) : (
        <span className="chat-row__kind" aria-hidden="true">
          {conversation.kind === 'link' ? '↔' : '#'}
        </span>
      )}
      <span className="chat-row__text">
        <span className="row">
          <span className={unread ? 'cut grow chat-row__title chat-row__title--unread' : 'cut grow chat-row__title'}>
            {title}
          </span>
          {paused && <span className="chip">‖</span>}
          {unread > 0 ? (
            <span className="badge">{unread}</span>
          ) : (
            <span className="chat-row__time">{clockTime(conversation.last?.at)}</span>
          )}
        </span>
        {conversation.last && (
          <span className="cut chat-row__last">
            {conversation.last.kind === 'system'
              ? lineIn(tasks, conversation.last.text).slice(0, 90)
              : `${conversation.last.from === self ? words.you : conversation.last.from}: ${conversation.last.text.slice(0, 90)}`}
          </span>
        )}
      </span>
    </Link>
  );
});

export function ConversationList({ current, onNew }: { current: string | null; onNew: () => void }) {
  const conversations = useLive((live) => live.conversations);
  const self = useLive((live) => live.self);
  const [filter, setFilter] = useState('');
  const sections = useMemo(() => sectionsOf({ conversations, self }, filter), [conversations, self, filter]);
  return (
    <div className="chat-list" data-region="conversations">
      <div className="chat-list__head">
        <h1 className="grow">{words.chat.title}</h1>
        <button
          type="button"
          className="plain-button plain-button--line"
          onClick={onNew}
          aria-label={words.chat.create}
        >
          +
        </button>
      </div>
      <input
        className="field"
        type="search"
        placeholder={words.chat.filter}
        aria-label={words.chat.filter}
        value={filter}
        onChange={(event) => setFilter(event.target.value)}
      />
      <nav aria-label={words.chat.title} className="chat-list__rows">
        {sections.map((section) => (
          <section key={section.title}>
            <h2 className="label chat-list__label">{section.title}</h2>
            {section.rows.map((row) => (
              <Row key={row.id} conversation={row} self={self} here={row.id === current} />
            ))}
          </section>
        ))}
        {sections.length === 0 && (
          <div className="chat-list__none muted small">
            <p>{filter ? words.chat.noneFound : words.chat.none}</p>
            {!filter && <code>moot chat arya gendry</code>}
          </div>
        )}
      </nav>
    </div>
  );
}
