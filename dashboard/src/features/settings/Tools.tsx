/** What lies outside the page: bridges and coding CLIs. Each with what is set, and the command that does it. */
import { useDerived } from '@/live/hooks';
import { activityWords } from '@/parts/activity';
import { Command } from '@/parts/Command';
import { Mark, Name } from '@/parts/Mark';
import { useNow } from '@/parts/useNow';
import { words } from '@/words';
import { HubSettings } from './HubSettings';

export function Commands({ rows }: { rows: readonly (readonly [string, string])[] }) {
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
