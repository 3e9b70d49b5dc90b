/** Keep a message in a note, where agents that may read the note find it. */
import { Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { call, errorText, get } from '@/api/client';
import type { Message, Note } from '@/api/shapes';
import { Select, TextField } from '@/parts/Fields';
import { ErrorNotice } from '@/parts/Page';
import { useToast } from '@/parts/Toasts';
import { useTitle } from '@/parts/talks';
import { fullTime } from '@/parts/time';
import { words } from '@/words';
import { quotation } from './quoted';

const NEW = '+';

export function PinToNote({ message, onClose }: { message: Message; onClose: () => void }) {
  const toast = useToast();
  const where = useTitle(message.conversation);
  const notes = useQuery({ queryKey: ['notes', 'pin'], queryFn: () => get<{ notes: Note[] }>('/api/notes') });
  const [chosen, setChosen] = useState<string>(NEW);
  const [name, setName] = useState('');
  const [error, setError] = useState('');
  const target = chosen === NEW ? name.trim() : chosen;
  const pin = async (event: FormEvent) => {
    event.preventDefault();
    const source = words.chat.pinnedFrom(message.from, where, message.seq, fullTime(message.at));
    const text = quotation(message, source);
    try {
      if (chosen === NEW) await call('POST', '/api/notes', { name: target, text: `${text}\n` });
      else await call('POST', `/api/notes/${encodeURIComponent(target)}/append`, { text: `\n${text}\n` });
      toast(words.chat.pinned(target));
      onClose();
    } catch (reason) {
      setError(errorText(reason));
    }
  };
  return (
    <Modal opened onClose={onClose} title={words.chat.pin} closeButtonProps={{ 'aria-label': words.close }}>
      <form className="stack" onSubmit={pin}>
        <Select
          label={words.chat.pinTo}
          data={[
            { value: NEW, label: words.notes.create },
            ...(notes.data?.notes ?? []).map((note) => ({ value: note.name, label: note.name })),
          ]}
          value={chosen}
          onChange={(value) => setChosen(value ?? NEW)}
          data-autofocus
        />
        {chosen === NEW && <TextField label={words.notes.name} value={name} onChange={setName} />}
        {error && <ErrorNotice text={error} />}
        <button type="submit" className="plain-button plain-button--main" disabled={!target}>
          {words.chat.pin}
        </button>
      </form>
    </Modal>
  );
}
