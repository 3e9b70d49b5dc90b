/** Pass a message on, as a quotation: to an agent, or into another conversation. */
import { Modal } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call, errorText } from '@/api/client';
import type { Conversation, Message } from '@/api/shapes';
import { useDerived, useStore } from '@/live/hooks';
import { newKey } from '@/live/outbox';
import { isAgent } from '@/live/state';
import { Select, TextField } from '@/parts/Fields';
import { ErrorNotice } from '@/parts/Page';
import { useToast } from '@/parts/Toasts';
import { titleIn, useTitle } from '@/parts/talks';
import { words } from '@/words';
import { quotation } from './quoted';

const AGENT = '@';

export function Forward({ message, onClose }: { message: Message; onClose: () => void }) {
  const store = useStore();
  const toast = useToast();
  const where = useTitle(message.conversation);
  const targets = useDerived(
    (live) => [live.agents, live.conversations],
    (live) => [
      ...Object.values(live.agents)
        .filter((agent) => isAgent(agent.kind))
        .map((agent) => ({ value: AGENT + agent.name, label: AGENT + agent.name })),
      ...Object.values(live.conversations)
        .filter((one) => !one.archived && one.id !== message.conversation && (one.kind !== 'link' || live.owner))
        .map((one) => ({ value: one.id, label: titleIn(live, one.id) })),
    ],
  );
  const [to, setTo] = useState<string | null>(null);
  const [note, setNote] = useState('');
  const [error, setError] = useState('');
  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (!to) return;
    try {
      const conversation = to.startsWith(AGENT)
        ? (await call<Conversation>('POST', '/api/implicit', { participants: [to.slice(1)] })).id
        : to;
      const text = quotation(message, words.chat.forwardedFrom(message.from, where, message.seq), note);
      store.outbox.post({ key: newKey(), conversation, text, at: new Date().toISOString() });
      toast(words.chat.forwarded(targets.find((one) => one.value === to)?.label ?? to));
      onClose();
    } catch (reason) {
      setError(errorText(reason));
    }
  };
  return (
    <Modal opened onClose={onClose} title={words.chat.forward} closeButtonProps={{ 'aria-label': words.close }}>
      <form className="stack" onSubmit={send}>
        <Select label={words.chat.forwardTo} data={targets} value={to} onChange={setTo} data-autofocus />
        <TextField label={words.chat.forwardNote} value={note} onChange={setNote} />
        <blockquote className="quoted">{message.text.slice(0, 300)}</blockquote>
        {error && <ErrorNotice text={error} />}
        <button type="submit" className="plain-button plain-button--main" disabled={!to}>
          {words.chat.forward}
        </button>
      </form>
    </Modal>
  );
}
