/** Navigation at the side: pages with what waits there, then the agents and what they are doing. */
import { Link, useLocation } from 'wouter';
import { useDerived } from '@/live/hooks';
import { isAgent } from '@/live/state';
import { activityWords } from '@/parts/activity';
import { Mark } from '@/parts/Mark';
import { needing, useNowAnswer } from '@/parts/now';
import { useNow } from '@/parts/useNow';
import { isBusy } from '@/theme/agents';
import { words } from '@/words';
import { PLACES } from './pages';
import { useUnread } from './unread';

const SHOWN = 40;

function Agents() {
  const agents = useDerived(
    (live) => [live.agents],
    (live) => Object.values(live.agents).filter((agent) => isAgent(agent.kind)),
  );
  const busy = agents.some((agent) => isBusy(agent.activity.state));
  const now = useNow(busy ? 1000 : 30_000);
  return (
    <section className="sidebar__agents" aria-label={words.nav.agentsHere}>
      <div className="label sidebar__label">{words.nav.agentsHere}</div>
      {agents.slice(0, SHOWN).map((agent) => (
        <Link key={agent.name} href={`/agents/${encodeURIComponent(agent.name)}`} className="sidebar__agent">
          <Mark name={agent.name} colour={agent.color} state={agent.activity.state} />
          <span className="cut">{agent.name}</span>
          <span className="sidebar__state cut">{activityWords(agent, now)}</span>
        </Link>
      ))}
    </section>
  );
}

export function Sidebar({ onPalette }: { onPalette: () => void }) {
  const [location] = useLocation();
  const waiting = needing(useNowAnswer()).length;
  const unread = useUnread();
  const counts: Record<string, number> = { '/now': waiting, '/c': unread };
  return (
    <div className="sidebar" data-region="navigation">
      <Link href="/now" className="sidebar__brand">
        <img src="/moot.svg" alt="" width="26" height="26" />
        <span>{words.product}</span>
      </Link>
      <button type="button" className="sidebar__palette" onClick={onPalette}>
        <span>{words.nav.palette}</span>
        <kbd>Ctrl K</kbd>
      </button>
      <nav aria-label={words.navigation}>
        {PLACES.map((place) => {
          const here = location === place.path || location.startsWith(`${place.path}/`);
          const count = counts[place.path] ?? 0;
          return (
            <Link key={place.path} href={place.path} className="sidebar__link" aria-current={here ? 'page' : undefined}>
              <span className="sidebar__glyph" aria-hidden="true">
                {place.glyph}
              </span>
              <span className="grow">{place.name}</span>
              {count > 0 && <span className="badge">{count}</span>}
            </Link>
          );
        })}
      </nav>
      <Agents />
    </div>
  );
}
