/** Conversations: which there are, the one that is open, and what explains it. */
import { useEffect, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { useLive } from '@/live/hooks';
import { Empty } from '@/parts/Page';
import { decoded } from '@/parts/talks';
import { words } from '@/words';
import './conversations.css';
import { Conversation } from './Conversation';
import { ConversationList } from './ConversationList';
import { NewConversation } from './NewConversation';

export default function ConversationsPage({ params }: { params: Record<string, string | undefined> }) {
  const [search, setSearch] = useSearchParams();
  const [, go] = useLocation();
  const asked = params.id ? decoded(params.id) : null;
  // An address may name a conversation; inside, it is known by its id.
  const id = useLive((live) =>
    asked === null
      ? null
      : live.conversations[asked]
        ? asked
        : (Object.values(live.conversations).find((one) => one.name === asked)?.id ?? asked),
  );
  const known = useLive((live) => id !== null && id in live.conversations);
  const [creating, setCreating] = useState(false);
  const wanted = search.has('new');
  useEffect(() => {
    if (!wanted) return;
    setCreating(true);
    setSearch({}, { replace: true });
  }, [wanted, setSearch]);
  return (
    <div className={id ? 'chats chats--open' : 'chats'}>
      <ConversationList current={id} onNew={() => setCreating(true)} />
      {id && known && <Conversation key={id} id={id} seq={params.seq ? Number(params.seq) : null} />}
      {id && !known && (
        <Empty title={words.chat.gone}>
          <p>{words.chat.goneText}</p>
          <Link href="/c">{words.chat.goneBack}</Link>
        </Empty>
      )}
      {!id && (
        <Empty title={words.chat.choose}>
          <p>{words.chat.chooseText}</p>
          <button type="button" className="plain-button plain-button--main" onClick={() => setCreating(true)}>
            {words.chat.create}
          </button>
        </Empty>
      )}
      {creating && (
        <NewConversation onClose={() => setCreating(false)} onMade={(made) => go(`/c/${encodeURIComponent(made)}`)} />
      )}
    </div>
  );
}
