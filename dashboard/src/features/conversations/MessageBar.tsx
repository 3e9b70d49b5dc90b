/** What can be done with a message: at hand why, reply and its address, the rest behind ⋯. */
import { useState } from 'react';
import { call, errorText, get } from '@/api/client';
import type { DeliveryProgress, Message, Why } from '@/api/shapes';
import { useLive } from '@/live/hooks';
import { newKey } from '@/live/outbox';
import { Drop, DropItem } from '@/parts/Drop';
import { useToast } from '@/parts/Toasts';
import { words } from '@/words';
import { Forward } from './Forward';
import { PinToNote } from './PinToNote';

const path = (id: string, tail: string): string => `/api/messages/${encodeURIComponent(id)}/${tail}`;

/** Those who were asked and gave no answer once more; if everybody did, all who were asked. Whom it asked. */
async function askAgain(message: Message): Promise<string[]> {
  const { deliveries } = await get<{ deliveries: DeliveryProgress[] }>(path(message.id, 'deliveries'));
  const asked = deliveries.filter((row) => row.duty !== 'observes' && row.duty !== 'blocked');
  const failed = asked.filter((row) => row.state === 'failed' || row.state === 'expired');
  const must = asked.filter((row) => row.duty === 'must');
  const agents = (failed.length ? failed : must).map((row) => row.agent);
  if (agents.length) await call('POST', path(message.id, 'again'), { agents }, { 'Idempotency-Key': newKey() });
  return agents;
}

/** An agent's message: what it answered is put to it once more. */
async function answerAgain(message: Message): Promise<string[]> {
  const why = await get<Why>(path(message.id, 'why'));
  const cause = (why.cause as { message?: string | null } | null)?.message;
  if (!cause) return [];
  await call('POST', path(cause, 'again'), { agents: [message.from] }, { 'Idempotency-Key': newKey() });
  return [message.from];
}

interface Props {
  message: Message;
  /** The one stop of the transcript. */
  current: boolean;
  onWhy(message: string): void;
  onReply(message: Message): void;
  onCopyLink(message: Message): void;
  onDelete(message: Message): void;
}

export function MessageBar({ message, current, onWhy, onReply, onCopyLink, onDelete }: Props) {
  const toast = useToast();
  const self = useLive((live) => live.self);
  const owner = useLive((live) => live.owner);
  const archived = useLive((live) => live.conversations[message.conversation]?.archived ?? false);
  const [dialog, setDialog] = useState<'forward' | 'pin' | null>(null);
  const stop = current ? 0 : -1;
  const retry = async () => {
    try {
      const asked = await (message.kind === 'human' ? askAgain(message) : answerAgain(message));
      toast(asked.length ? words.chat.retried(asked.join(', ')) : words.chat.nobodyToRetry, { bad: !asked.length });
    } catch (error) {
      toast(errorText(error), { bad: true });
    }
  };
  const copy = () => {
    void navigator.clipboard?.writeText(message.text);
    toast(words.copied);
  };
  const isGone = Boolean(message.metadata?.deleted);
  return (
    <div className="message-acts">
      <button type="button" className="plain-button" tabIndex={stop} onClick={() => onWhy(message.id)}>
        {words.chat.why}
      </button>
      <button type="button" className="plain-button" tabIndex={stop} onClick={() => onReply(message)}>
        {words.chat.reply}
      </button>
      <button type="button" className="plain-button" tabIndex={stop} onClick={() => onCopyLink(message)}>
        {words.chat.copyLink}
      </button>
      {!isGone && (
        <Drop menu text="⋯" label={words.chat.moreActs} className="plain-button" tabIndex={stop}>
          <DropItem text={words.chat.copyText} onClick={copy} />
          <DropItem text={words.chat.forward} onClick={() => setDialog('forward')} />
          <DropItem text={words.chat.pin} onClick={() => setDialog('pin')} />
          {!archived && <DropItem text={words.chat.retry} onClick={retry} />}
          {(owner || message.from === self) && (
            <DropItem text={words.chat.delete} bad onClick={() => onDelete(message)} />
          )}
        </Drop>
      )}
      {dialog === 'forward' && <Forward message={message} onClose={() => setDialog(null)} />}
      {dialog === 'pin' && <PinToNote message={message} onClose={() => setDialog(null)} />}
    </div>
  );
}
