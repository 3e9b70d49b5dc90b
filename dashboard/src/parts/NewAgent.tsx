/** A new agent: one that the hub runs gets a row in moot.toml and its files; one that runs elsewhere is registered. */
import { Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { call, errorText, get } from '@/api/client';
import type { Agent, ModelProvider } from '@/api/shapes';
import { useStore } from '@/live/hooks';
import { words } from '@/words';
import { Command } from './Command';
import { Choice, Select, TextField } from './Fields';
import { ErrorNotice } from './Page';

const DEMO = 'demo';
const OTHER = 'other';

const quoted = (text: string): string => `"${text.replace(/["\\$`]/g, '\\$&')}"`;

interface BrainProps {
  chosen: string;
  onChosen(value: string): void;
  model: string;
  onModel(value: string): void;
}

/** What it thinks with; a provider without a key says how to set one. */
function BrainFields({ chosen, onChosen, model, onModel }: BrainProps) {
  const { newAgent } = words;
  const answer = useQuery({
    queryKey: ['providers'],
    queryFn: () => get<{ providers: ModelProvider[] }>('/api/providers'),
    retry: false,
  });
  const providers = answer.data?.providers ?? [];
  const brain = chosen === OTHER ? model : chosen;
  const without = providers.find((one) => brain.startsWith(`${one.name}:`) && !brain.includes('@') && !one.ending);
  return (
    <>
      <Select
        label={newAgent.brain}
        value={chosen}
        onChange={(value) => onChosen(value ?? DEMO)}
        data={[
          { value: DEMO, label: newAgent.demo },
          ...providers.flatMap((one) => (one.brain ? [{ value: one.brain, label: one.brain }] : [])),
          { value: OTHER, label: newAgent.other },
        ]}
      />
      {chosen === OTHER && (
        <TextField label={newAgent.model} description={newAgent.modelHint} value={model} onChange={onModel} />
      )}
      {without && (
        <>
          <p className="notice">{newAgent.noKey(without.name)}</p>
          <Command text={`moot keys set ${without.name}`} />
        </>
      )}
    </>
  );
}

export function NewAgent({ onClose, onMade }: { onClose: () => void; onMade: (name: string) => void }) {
  const store = useStore();
  const [where, setWhere] = useState('here');
  const [name, setName] = useState('');
  const [role, setRole] = useState('');
  const [chosen, setChosen] = useState(DEMO);
  const [model, setModel] = useState('');
  const [error, setError] = useState('');
  const { newAgent } = words;
  const here = where === 'here';
  const brain = chosen === OTHER ? model.trim() : chosen;
  const make = async (event: FormEvent) => {
    event.preventDefault();
    const who = { name: name.trim(), role: role.trim() };
    try {
      const made = here
        ? await call<Agent>('POST', '/api/hosted-agents', { ...who, brain })
        : await call<Agent>('POST', '/api/agents', { ...who, kind: 'external' });
      store.learn((state) => ({ ...state, agents: { ...state.agents, [made.name]: made } }));
      onClose();
      onMade(made.name);
    } catch (reason) {
      setError(errorText(reason));
    }
  };
  const command = `moot agents new ${name.trim() || 'arya'}${role.trim() ? ` --role ${quoted(role.trim())}` : ''}`;
  return (
    <Modal opened onClose={onClose} title={newAgent.title} closeButtonProps={{ 'aria-label': words.close }}>
      <form className="stack" onSubmit={make}>
        <TextField label={newAgent.name} value={name} onChange={setName} placeholder="arya" data-autofocus />
        <TextField label={newAgent.role} value={role} onChange={setRole} placeholder={newAgent.roleExample} />
        <Choice
          label={newAgent.where}
          value={where}
          onChange={setWhere}
          options={[
            { value: 'here', label: newAgent.here },
            { value: 'outside', label: newAgent.outside },
          ]}
        />
        {here && <BrainFields chosen={chosen} onChosen={setChosen} model={model} onModel={setModel} />}
        <p className="muted small">{here ? newAgent.hereText : newAgent.outsideText}</p>
        {!here && <Command text="moot mcp install" />}
        {error && <ErrorNotice text={error} />}
        <button type="submit" className="plain-button plain-button--main" disabled={!name.trim() || (here && !brain)}>
          {here ? newAgent.create : newAgent.make}
        </button>
        {here && (
          <>
            <p className="muted small">{newAgent.program}</p>
            <Command text={`${command} --model command:claude`} />
          </>
        )}
      </form>
    </Modal>
  );
}
