/** A new conversation: with one agent, or a room with several. */
import { Modal } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call, errorText } from '@/api/client';
import type { Conversation } from '@/api/shapes';
import { useDerived, useStore } from '@/live/hooks';
import { TextField } from '@/parts/Fields';
import { ErrorNotice } from '@/parts/Page';
import { words } from '@/words';

export function NewConversation({ onClose, onMade }: { onClose: () => void; onMade: (id: string) => void }) {
  const store = useStore();
  const names = useDerived(
    (live) => [live.agents],
    (live) => Object.keys(live.agents).filter((name) => name !== live.self),
  );
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<string[]>([]);
  const [error, setError] = useState('');
  const create = async (event: FormEvent) => {
    event.preventDefault();
    if (!chosen.length) return setError(words.chat.newNeeds);
    try {
      const made = name.trim()
        ? await call<Conversation>('POST', '/api/conversations', { name: name.trim(), participants: chosen })
        : await call<Conversation>('POST', '/api/implicit', { participants: chosen });
      store.learn((state) => ({
        ...state,
        conversations: {
          ...state.conversations,
          [made.id]: { head: 0, unread: 0, last: null, ...state.conversations[made.id], ...made },
        },
      }));
      onClose();
      onMade(made.id);
    } catch (reason) {
      setError(errorText(reason));
    }
  };
  return (
    <Modal opened onClose={onClose} title={words.chat.newTitle} closeButtonProps={{ 'aria-label': words.close }}>
      <form className="stack" onSubmit={create}>
        <fieldset className="choices">
          <legend>{words.chat.newWith}</legend>
          {names.map((one, index) => (
            <label key={one}>
              <input
                type="checkbox"
                checked={chosen.includes(one)}
                data-autofocus={index === 0 ? '' : undefined}
                onChange={(event) =>
                  setChosen(event.target.checked ? [...chosen, one] : chosen.filter((name) => name !== one))
                }
              />
              {one}
            </label>
          ))}
        </fieldset>
        <TextField label={words.chat.newName} description={words.chat.newNameHint} value={name} onChange={setName} />
        {error && <ErrorNotice text={error} />}
        <button type="submit" className="plain-button plain-button--main">
          {words.chat.newCreate}
        </button>
      </form>
    </Modal>
  );
}
