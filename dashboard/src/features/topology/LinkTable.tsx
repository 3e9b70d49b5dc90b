/** The same graph as a table: every action of the map, in reading order. */
import { Link as Anchor } from 'wouter';
import type { Link } from '@/api/shapes';
import { useDerived, useLive } from '@/live/hooks';
import { isAgent } from '@/live/state';
import { activityWords } from '@/parts/activity';
import { Hourglass } from '@/parts/Hourglass';
import { Lock } from '@/parts/Lock';
import { Mark, Name } from '@/parts/Mark';
import { useNow } from '@/parts/useNow';
import { words } from '@/words';
import { isInFile } from './fileChange';
import { heldUntil } from './graph';
import { useCount, useLinkRefusal } from './traffic';

/** A link as one of its ends sees it. */
function seenFrom(link: Link, name: string): { glyph: string; word: string; other: string } {
  const other = link.from === name ? link.to : link.from;
  if (link.relationship === 'peer') return { glyph: '═', word: words.topology.peerOf, other };
  const above = (link.relationship === 'superior') === (link.from === name);
  return above
    ? { glyph: '▼', word: words.topology.superiorOf, other }
    : { glyph: '▲', word: words.topology.reports, other };
}

/** What went over it this hour, what is held, what was refused: in words, as there is room for them. */
function Counts({ link }: { link: Link }) {
  const count = useCount(link.channel);
  const refusal = useLinkRefusal(link.id);
  const until = useLive((live) => heldUntil(live.turns, link.channel));
  const now = useNow(until ? 1000 : null);
  return (
    <>
      {until && (
        <span className="chip">
          <Hourglass /> {words.topology.heldFor(Math.max(1, Math.ceil((Date.parse(until) - now) / 1000)))}
        </span>
      )}
      {refusal && <span className="chip map-table__refused">✕ {words.topology.refusedHere(refusal.count)}</span>}
      {count > 0 && (
        <span className="chip" data-count={count}>
          {words.topology.perHour(count)}
        </span>
      )}
    </>
  );
}

export function LinkTable({ onLink, onOpen }: { onLink: (from: string) => void; onOpen: (id: string) => void }) {
  const agents = useDerived(
    (live) => [live.agents],
    (live) => Object.values(live.agents).filter((agent) => isAgent(agent.kind)),
  );
  const links = useLive((live) => live.links);
  return (
    <div className="map-table stack">
      {agents.map((agent) => {
        const own = Object.values(links).filter((link) => link.from === agent.name || link.to === agent.name);
        return (
          <section
            key={agent.name}
            className="card"
            aria-label={words.topology.node(agent.name, activityWords(agent, Date.now()), own.length)}
          >
            <div className="row">
              <Mark name={agent.name} colour={agent.color} state={agent.activity.state} />
              <Anchor href={`/agents/${encodeURIComponent(agent.name)}`} className="cut">
                <Name name={agent.name} colour={agent.color} />
              </Anchor>
              <span className="muted small grow cut">
                {[agent.role, activityWords(agent, Date.now())].filter(Boolean).join(' · ')}
              </span>
              <button type="button" className="plain-button plain-button--line" onClick={() => onLink(agent.name)}>
                {words.topology.link}
              </button>
            </div>
            {own.map((link) => {
              const seen = seenFrom(link, agent.name);
              return (
                <button key={link.id} type="button" className="map-table__link" onClick={() => onOpen(link.id)}>
                  <span aria-hidden="true">{link.enabled ? seen.glyph : '┆'}</span>
                  <span className="grow cut">
                    {seen.word} {seen.other}
                    <span className="visually-hidden">. {link.sentence}</span>
                  </span>
                  {link.direction === 'one_way' && <span className="chip">{words.topology.only(link.from)}</span>}
                  {!link.enabled && <span className="chip">{words.topology.off}</span>}
                  {isInFile(link) && <Lock />}
                  <Counts link={link} />
                </button>
              );
            })}
            {own.length === 0 && <div className="muted small map-table__none">{words.topology.noLinks}</div>}
          </section>
        );
      })}
    </div>
  );
}
