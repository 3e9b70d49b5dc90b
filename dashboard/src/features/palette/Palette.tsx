/** Go anywhere, do anything: pages, conversations (archived too), agents, actions, with the command line's way beside. */
import { Modal, useMantineColorScheme } from '@mantine/core';
import { type KeyboardEvent, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { useLive } from '@/live/hooks';
import { Offers } from '@/parts/Offers';
import { words } from '@/words';
import './palette.css';
import { choicesOf, matching } from './choices';

export default function Palette({ onClose, onKeys }: { onClose: () => void; onKeys: () => void }) {
  const [, go] = useLocation();
  const { setColorScheme, colorScheme } = useMantineColorScheme();
  const conversations = useLive((live) => live.conversations);
  const agents = useLive((live) => live.agents);
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const self = useLive((live) => live.self);
  const all = useMemo(() => choicesOf(conversations, agents, self), [conversations, agents, self]);
  const found = useMemo(() => matching(all, text), [all, text]);
  const take = (value: string) => {
    onClose();
    if (value === 'theme') setColorScheme(colorScheme === 'light' ? 'dark' : 'light');
    else if (value === 'keys') onKeys();
    else go(value);
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setChosen(Math.min(found.length - 1, chosen + 1));
    else if (event.key === 'ArrowUp') setChosen(Math.max(0, chosen - 1));
    else if (event.key === 'Enter') {
      const choice = found[chosen];
      if (choice) take(choice.value);
    } else return;
    event.preventDefault();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      padding={0}
      size={560}
      yOffset="12vh"
      title={undefined}
      aria-label={words.palette.title}
      transitionProps={{ duration: 0 }}
    >
      <div className="palette">
        <input
          className="palette__box"
          data-autofocus
          role="combobox"
          aria-expanded="true"
          aria-label={words.palette.title}
          aria-controls="palette-offers"
          aria-activedescendant={found.length ? `palette-offers-${chosen}` : undefined}
          placeholder={words.palette.placeholder}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setChosen(0);
          }}
          onKeyDown={pressed}
        />
        {found.length ? (
          <Offers
            id="palette-offers"
            label={words.palette.title}
            offers={found}
            chosen={chosen}
            onChoose={(offer) => take(offer.value)}
          />
        ) : (
          <p className="palette__none muted">{words.palette.none}</p>
        )}
      </div>
    </Modal>
  );
}
