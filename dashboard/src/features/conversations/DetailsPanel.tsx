/** Who is in a conversation and how turns are taken there. */

import { useState } from 'react';
import { call, errorText } from '@/api/client';
import { useDerived, useLive } from '@/live/hooks';
import { isAgent } from '@/live/state';
import { activityWords } from '@/parts/activity';
import { Select } from '@/parts/Fields';
import { Mark } from '@/parts/Mark';
import { SidePanel } from '@/parts/SidePanel';
import { useToast } from '@/parts/Toasts';
import { words } from '@/words';

const STRATEGIES = ['hybrid', 'mention_only', 'round_robin'];
const NUMBERS = [
  'max_agent_turns_per_message',
  'max_depth',
  'cooldown_seconds',
  'agent_reply_timeout',
  'max_voluntary_responders',
];

function useChange(id: string) {
  const toast = useToast();
  const path = `/api/conversations/${encodeURIComponent(id)}`;
  return async (method: string, tail: string, body?: unknown, done?: string) => {
    try {
      await call(method, `${path}${tail}`, body);
      if (done) toast(done);
    } catch (error) {
      toast(errorText(error), { bad: true });
    }
  };
}

function People({ id }: { id: string }) {
  const change = useChange(id);
  const seats = useLive((live) => live.conversations[id]?.participants) ?? [];
  const self = useLive((live) => live.self);
  const agents = useLive((live) => live.agents);
  const others = useDerived(
    (live) => [live.agents, live.conversations[id]],
    (live) =>
      Object.keys(live.agents).filter(
        (name) => !live.conversations[id]?.participants.some((seat) => seat.name === name),
      ),
  );
  return (
    <section className="stack">
      <h3 className="label">{words.chat.participants}</h3>
      {seats.map((seat) => (
        <div key={seat.name} className="row">
          <Mark
            name={seat.name}
            mark={isAgent(seat.kind) ? seat.mark : '◇'}
            colour={agents[seat.name]?.color}
            state={isAgent(seat.kind) ? agents[seat.name]?.activity.state : undefined}
          />
          <span>{seat.name === self ? `${seat.name} (${words.you})` : seat.name}</span>
          <span className="muted small grow cut">
            {isAgent(seat.kind) ? activityWords(agents[seat.name], Date.now()) : ''}
          </span>
          <button
            type="button"
            className="plain-button"
            aria-label={words.chat.remove(seat.name)}
            onClick={() => change('DELETE', `/participants/${encodeURIComponent(seat.name)}`)}
          >
            ✕
          </button>
        </div>
      ))}
      {others.length > 0 && (
        <Select
          placeholder={words.chat.add}
          aria-label={words.chat.add}
          data={others}
          value={null}
          onChange={(name) => name && change('POST', '/participants', { name })}
        />
      )}
    </section>
  );
}

function Rules({ id }: { id: string }) {
  const change = useChange(id);
  const settings = useLive((live) => live.conversations[id]?.settings) as Record<string, unknown> | undefined;
  const [kept, setKept] = useState<Record<string, string>>({});
  if (!settings) return null;
  const set = (key: string, value: unknown) =>
    change('PATCH', '', { settings: { [key]: value } }, words.chat.settingsSaved);
  return (
    <section className="stack">
      <h3 className="label">{words.chat.settings}</h3>
      {'reply_strategy' in settings && (
        <Select
          label={words.chat.setting.reply_strategy ?? ''}
          data={STRATEGIES.map((value) => ({ value, label: words.chat.strategies[value] ?? value }))}
          value={String(settings.reply_strategy)}
          onChange={(value) => value && set('reply_strategy', value)}
        />
      )}
      {NUMBERS.filter((key) => key in settings).map((key) => (
        <label key={key} className="details__number">
          <span title={key}>{words.chat.setting[key] ?? key}</span>
          <input
            className="field"
            type="number"
            step="any"
            value={kept[key] ?? Number(settings[key])}
            onChange={(event) => setKept({ ...kept, [key]: event.target.value })}
            onBlur={() => {
              const next = Number(kept[key]);
              if (kept[key] !== undefined && kept[key] !== '' && next !== settings[key]) set(key, next);
            }}
          />
        </label>
      ))}
    </section>
  );
}

export function DetailsPanel({ id, onClose }: { id: string; onClose: () => void }) {
  const change = useChange(id);
  const conversation = useLive((live) => live.conversations[id]);
  if (!conversation) return null;
  return (
    <SidePanel title={words.chat.details} onClose={onClose}>
      <People id={id} />
      {conversation.kind === 'group' && <Rules id={id} />}
      {!conversation.archived && (
        <button
          type="button"
          className="plain-button plain-button--line plain-button--bad"
          onClick={() => change('DELETE', '')}
        >
          {words.chat.archive}
        </button>
      )}
    </SidePanel>
  );
}
