/** A new agent: one that runs elsewhere is registered here; one that the hub runs is made by a command, with its files. */
import { Modal } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call, saidPlainly } from '@/api/client';
import type { Agent } from '@/api/shapes';
import { useStore } from '@/live/hooks';
import { words } from '@/words';
import { Command } from './Command';
import { Choice, TextField } from './Fields';
import { Trouble } from './Page';

const quoted = (text: string): string => `"${text.replace(/["\\$`]/g, '\\$&')}"`;

export function NewAgent({ onClose, onMade }: { onClose: () => void; onMade: (name: string) => void }) {
  const store = useStore();
  const [where, setWhere] = useState('outside');
  const [name, setName] = useState('');
  const [role, setRole] = useState('');
  const [trouble, setTrouble] = useState('');
  const { newAgent } = words;
  const make = async (event: FormEvent) => {
    event.preventDefault();
    try {
      const made = await call<Agent>('POST', '/api/agents', { name: name.trim(), role: role.trim(), kind: 'external' });
      store.learn((state) => ({ ...state, agents: { ...state.agents, [made.name]: made } }));
      onClose();
      onMade(made.name);
    } catch (reason) {
      setTrouble(saidPlainly(reason));
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
            { value: 'outside', label: newAgent.outside },
            { value: 'here', label: newAgent.here },
          ]}
        />
        {trouble && <Trouble text={trouble} />}
        {where === 'outside' ? (
          <>
            <p className="muted small">{newAgent.outsideText}</p>
            <Command text="moot mcp install" />
            <button type="submit" className="plain-button plain-button--main" disabled={!name.trim()}>
              {newAgent.make}
            </button>
          </>
        ) : (
          <>
            <p className="muted small">{newAgent.hereText}</p>
            <Command text={command} />
          </>
        )}
      </form>
    </Modal>
  );
}
