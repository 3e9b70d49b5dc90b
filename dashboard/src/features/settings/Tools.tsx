/** What lies outside the page: bridges, coding CLIs, data. Each with what is set, and the command that does it. */
import { useQuery } from '@tanstack/react-query';
import { get } from '@/api/client';
import type { Status } from '@/api/shapes';
import { useDerived } from '@/live/hooks';
import { activityWords } from '@/parts/activity';
import { Command } from '@/parts/Command';
import { Mark, Name } from '@/parts/Mark';
import { useNow } from '@/parts/useNow';
import { words } from '@/words';
import { HubSettings } from './HubSettings';

function Commands({ rows }: { rows: readonly (readonly [string, string])[] }) {
  return (
    <div className="stack">
      {rows.map(([text, command]) => (
        <div key={command} className="settings__command">
          <p className="muted">{text}</p>
          <Command text={command} />
        </div>
      ))}
    </div>
  );
}

export function Bridges() {
  return (
    <div className="stack">
      <p>{words.settings.bridgesText}</p>
      <Commands rows={words.settings.bridges} />
      <HubSettings only={/^bridges\./} />
    </div>
  );
}

export function CodingClis() {
  const now = useNow(5000);
  const clients = useDerived(
    (live) => [live.agents],
    (live) =>
      Object.values(live.agents).filter((agent) => agent.kind === 'external' || /^(command|acp):/.test(agent.brain)),
  );
  return (
    <div className="stack">
      <p>{words.settings.clisText}</p>
      {clients.length === 0 && <p className="muted">{words.settings.clisNone}</p>}
      {clients.map((agent) => (
        <div key={agent.name} className="row row--wrap">
          <Mark name={agent.name} colour={agent.color} state={agent.activity.state} />
          <Name name={agent.name} colour={agent.color} />
          <span>{agent.brain || agent.kind}</span>
          <code className="small">{agent.project}</code>
          <span className="muted small">{activityWords(agent, now)}</span>
        </div>
      ))}
      <Commands rows={words.settings.clis} />
    </div>
  );
}

export function Data() {
  const answer = useQuery({ queryKey: ['status'], queryFn: () => get<Status>('/api/status') });
  const counts = useDerived(
    (live) => [live.conversations],
    (live) => Object.values(live.conversations).reduce((sum, one) => sum + (one.head ?? 0), 0),
  );
  return (
    <div className="stack">
      <p>{words.settings.dataText(counts, answer.data?.position ?? 0)}</p>
      <Commands rows={words.settings.data} />
      <HubSettings only={/^(store|log|housekeeping)\./} />
    </div>
  );
}
