/** A new link, said in words before it is made. The same dialog for mouse and keys. */
import { Modal } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { errorText } from '@/api/client';
import type { Direction, Link, Relationship } from '@/api/shapes';
import { useDerived, useLive } from '@/live/hooks';
import { isAgent } from '@/live/state';
import { Choice, Select } from '@/parts/Fields';
import { ErrorNotice } from '@/parts/Page';
import { words } from '@/words';
import { between } from './graph';
import { useLinks } from './useLinks';

export interface Drawn {
  from: string;
  to: string;
  relationship: Relationship;
}

interface Props {
  drawn: Drawn;
  onClose(): void;
  onMade(link: Link): void;
}

export function LinkDialog({ drawn, onClose, onMade }: Props) {
  const { create } = useLinks();
  const links = useLive((live) => live.links);
  const names = useDerived(
    (live) => [live.agents],
    (live) =>
      Object.values(live.agents)
        .filter((agent) => isAgent(agent.kind))
        .map((agent) => agent.name),
  );
  const [from, setFrom] = useState(drawn.from);
  const [to, setTo] = useState(drawn.to);
  const [relationship, setRelationship] = useState<Relationship>(drawn.relationship);
  const [direction, setDirection] = useState<Direction>('two_way');
  const [error, setError] = useState('');
  const { topology } = words;
  const relations = topology.relation(from || '…', to || '…');
  const make = async (event: FormEvent) => {
    event.preventDefault();
    if (!from || !to) return;
    if (from === to) return setError(topology.self);
    const known = between(Object.values(links), from, to);
    if (known) {
      onMade(known);
      return;
    }
    try {
      onMade(await create({ from, to, relationship, direction }));
    } catch (reason) {
      setError(errorText(reason));
    }
  };
  return (
    <Modal opened onClose={onClose} title={topology.newLink} closeButtonProps={{ 'aria-label': words.close }}>
      <form className="stack" onSubmit={make}>
        <Select
          label={topology.from}
          data={names}
          value={from || null}
          onChange={(name) => setFrom(name ?? '')}
          {...(drawn.from ? {} : { 'data-autofocus': true })}
        />
        <Select
          label={topology.to}
          data={names}
          value={to || null}
          onChange={(name) => setTo(name ?? '')}
          {...(drawn.from && !drawn.to ? { 'data-autofocus': true } : {})}
        />
        <Choice
          label={topology.relationship}
          value={relationship}
          onChange={(value) => setRelationship(value as Relationship)}
          options={(['superior', 'peer', 'subordinate'] as const).map((one) => ({
            value: one,
            label: relations[one] ?? one,
          }))}
        />
        <Choice
          label={topology.whoStarts}
          value={direction}
          onChange={(value) => setDirection(value as Direction)}
          options={[
            { value: 'two_way', label: topology.both },
            { value: 'one_way', label: topology.only(from || '…') },
          ]}
        />
        {from && to && <p className="map-sentence">{topology.sentence(from, to, relationship, direction)}</p>}
        {error && <ErrorNotice text={error} />}
        <button
          type="submit"
          className="plain-button plain-button--main"
          disabled={!from || !to}
          {...(drawn.to ? { 'data-autofocus': true } : {})}
        >
          {topology.create}
        </button>
      </form>
    </Modal>
  );
}
