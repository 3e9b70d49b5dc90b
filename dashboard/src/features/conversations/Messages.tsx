/** The transcript of a conversation, with what can be done with each message. */
import { type KeyboardEvent, memo, useCallback, useMemo } from 'react';
import { errorText } from '@/api/client';
import type { Message } from '@/api/shapes';
import { useLive, usePending, usePieces, useStore } from '@/live/hooks';
import { headOf, isAgent } from '@/live/state';
import { Bubble, Frame, type Look, ThinLine } from '@/parts/chat/Bubble';
import { HubLine } from '@/parts/chat/HubLine';
import { type Row, rowsOf } from '@/parts/chat/rows';
import { drawPlain, Transcript } from '@/parts/chat/Transcript';
import { Markdown } from '@/parts/Markdown';
import { Empty } from '@/parts/Page';
import { lettersOn } from '@/parts/preferences';
import { useToast } from '@/parts/Toasts';
import { useNow } from '@/parts/useNow';
import { words } from '@/words';
import { deleteLater, useLeaving } from './deletions';
import { setDraft } from './drafts';
import { MessageBar } from './MessageBar';
import { Receipts } from './Receipts';

const LATE_MS = 3_000;

interface Props {
  id: string;
  seq: number | null;
  onWhy(message: string): void;
  onReply(message: Message): void;
}

const Pending = memo(function Pending({ text, at }: { text: string; at: string }) {
  const late = useNow(1000) - Date.parse(at) > LATE_MS;
  return (
    <div className="message-bubble--pending" data-testid="pending">
      <Frame
        look="user"
        own
        name=""
        time={at}
        foot={<span>{late ? words.chat.sendingLater : words.chat.sending}</span>}
      >
        <Markdown text={text} />
      </Frame>
    </div>
  );
});

function useLooks(id: string) {
  const seats = useLive((live) => live.conversations[id]?.participants);
  const kind = useLive((live) => live.conversations[id]?.kind);
  const agents = useLive((live) => live.agents);
  return useMemo(() => {
    const marks = new Map((seats ?? []).map((seat) => [seat.name, seat.mark]));
    const among = (seats ?? []).filter((seat) => isAgent(seat.kind));
    const look = (from: string, messageKind: string): Look => {
      if (messageKind === 'human') return 'user';
      return kind !== 'group' && among.length === 1 && among[0]?.name === from ? 'assistant' : 'agent';
    };
    return {
      look,
      mark: (name: string) => marks.get(name),
      colour: (name: string) => agents[name]?.color,
      demo: (name: string) => agents[name]?.brain?.startsWith('demo') ?? false,
    };
  }, [seats, kind, agents]);
}

function Starters({ id }: { id: string }) {
  const seats = useLive((live) => live.conversations[id]?.participants);
  const names = (seats ?? []).filter((seat) => isAgent(seat.kind)).map((seat) => seat.name);
  return (
    <div className="transcript transcript--empty">
      <Empty title={words.chat.empty}>
        <p>{names.length ? words.chat.emptyText : words.chat.emptyAlone}</p>
        <div className="row row--wrap conversation__starters">
          {(names.length ? words.chat.examples(names) : []).map((example) => (
            <button
              key={example}
              type="button"
              className="plain-button plain-button--line"
              onClick={() => setDraft(id, example)}
            >
              {example}
            </button>
          ))}
        </div>
      </Empty>
    </div>
  );
}

export function Messages({ id, seq, onWhy, onReply }: Props) {
  const store = useStore();
  const toast = useToast();
  const thread = useLive((live) => live.threads[id]);
  const passes = useLive((live) => live.passes[id]);
  const head = useLive((live) => headOf(live, id));
  const self = useLive((live) => live.self);
  const pieces = usePieces(id);
  const pending = usePending(id);
  const looks = useLooks(id);
  const leaving = useLeaving();
  const rows = useMemo(
    () => rowsOf({ thread, passes: passes ?? [], pieces, pending }),
    [thread, passes, pieces, pending],
  );

  const draw = useCallback(
    (row: Row) => {
      if (row.kind === 'message') {
        const { message } = row;
        if (message.kind === 'system' || message.kind === 'tool')
          return (
            <ThinLine>
              <HubLine text={message.text} />
            </ThinLine>
          );
        const own = message.from === self;
        if (leaving.has(message.id)) return <ThinLine>{words.chat.deleted}</ThinLine>;
        const foot = own ? <Receipts message={message} /> : null;
        return (
          <Bubble
            message={message}
            look={looks.look(message.from, message.kind)}
            own={own}
            mark={looks.mark(message.from)}
            colour={looks.colour(message.from)}
            demo={looks.demo(message.from)}
            foot={foot}
          />
        );
      }
      if (row.kind === 'piece')
        return (
          <Frame
            look={looks.look(row.piece.agent, 'agent')}
            own={false}
            name={row.piece.agent}
            mark={looks.mark(row.piece.agent)}
            colour={looks.colour(row.piece.agent)}
            badges={<span className="chip">{words.chat.writing(row.piece.agent)}</span>}
          >
            <Markdown text={row.piece.text} />
          </Frame>
        );
      if (row.kind === 'pending') return <Pending text={row.pending.text} at={row.pending.at} />;
      return drawPlain(row);
    },
    [looks, self, leaving],
  );

  const acts = useMemo(() => {
    const link = (message: Message) => {
      void navigator.clipboard?.writeText(`${window.location.origin}/c/${encodeURIComponent(id)}/m/${message.seq}`);
      toast(words.copied);
    };
    const remove = (message: Message) => {
      const undo = deleteLater(message, (error) => toast(errorText(error), { bad: true }));
      toast(words.chat.deletedUndo, { undo });
    };
    return {
      key(event: KeyboardEvent, message: Message): boolean {
        if (!lettersOn() || event.ctrlKey || event.metaKey || event.altKey) return false;
        if (event.key === 'r') onReply(message);
        else if (event.key === 'w') onWhy(message.id);
        else if (event.key === 'c') link(message);
        else return false;
        return true;
      },
      bar: (message: Message, current: boolean) => (
        <MessageBar
          message={message}
          current={current}
          onWhy={onWhy}
          onReply={onReply}
          onCopyLink={link}
          onDelete={remove}
        />
      ),
    };
  }, [id, toast, onReply, onWhy]);

  const older = useCallback(() => void store.older(id).catch(() => {}), [store, id]);
  const read = useCallback(
    () => void (document.visibilityState === 'visible' && store.markRead(id, head)),
    [store, id, head],
  );
  if (thread?.whole && thread.messages.length === 0 && rows.length <= 1) return <Starters id={id} />;
  if (!thread) return <div className="transcript transcript--loading muted">{words.loading}</div>;
  return (
    <Transcript
      id={id}
      rows={rows}
      head={head}
      whole={thread.whole}
      focusSeq={seq}
      draw={draw}
      acts={acts}
      onOlder={older}
      onEnd={read}
    />
  );
}
