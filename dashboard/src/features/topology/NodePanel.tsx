/** One agent of the map: what it does, whom it may write to, and what can be done from here. */
import { Link as Anchor } from 'wouter';
import { useDerived, useLive } from '@/live/hooks';
import { isAgent } from '@/live/state';
import { activityWords } from '@/parts/activity';
import { SidePanel } from '@/parts/SidePanel';
import { useNow } from '@/parts/useNow';
import { words } from '@/words';

interface Props {
  name: string;
  onLink(): void;
  onOpen(link: string): void;
  onClose(): void;
}

export function NodePanel({ name, onLink, onOpen, onClose }: Props) {
  const agent = useLive((live) => live.agents[name]);
  const self = useLive((live) => live.self);
  const links = useDerived(
    (live) => [live.links],
    (live) => Object.values(live.links).filter((link) => link.from === name || link.to === name),
  );
  const now = useNow(1000);
  if (!agent) return null;
  return (
    <SidePanel title={name === self ? `${name} (${words.you})` : name} onClose={onClose}>
      <p>
        {[agent.role, isAgent(agent.kind) ? activityWords(agent, now) : ''].filter(Boolean).join(' · ') || agent.kind}
      </p>
      <div>
        <h3 className="label">{words.topology.count(links.length)}</h3>
        {links.map((link) => (
          <button key={link.id} type="button" className="map-table__link" onClick={() => onOpen(link.id)}>
            {link.sentence}
          </button>
        ))}
        {links.length === 0 && isAgent(agent.kind) && <p className="muted">{words.agents.noLinks}</p>}
      </div>
      {isAgent(agent.kind) && (
        <div className="row row--wrap">
          <button type="button" className="plain-button plain-button--main" onClick={onLink}>
            {words.topology.link}
          </button>
          <Anchor href={`/agents/${encodeURIComponent(name)}`} className="plain-button plain-button--line">
            {words.topology.openAgent}
          </Anchor>
        </div>
      )}
    </SidePanel>
  );
}
