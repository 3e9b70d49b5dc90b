/** Topology: who may talk to whom, as a map and as a table, with the link one looks at beside it. */

import { lazy, Suspense, useState } from 'react';
import { useSearchParams } from 'wouter';
import { call, errorText } from '@/api/client';
import type { Point } from '@/api/shapes';
import { useDerived, useLive, useStore } from '@/live/hooks';
import { isAgent } from '@/live/state';
import { Command } from '@/parts/Command';
import { Choice } from '@/parts/Fields';
import { Hourglass } from '@/parts/Hourglass';
import { Lock } from '@/parts/Lock';
import { NewAgent } from '@/parts/NewAgent';
import { Empty, Page } from '@/parts/Page';
import { useToast } from '@/parts/Toasts';
import { words } from '@/words';
import './topology.css';
import { between, tidied } from './graph';
import { Inspector } from './Inspector';
import { type Drawn, LinkDialog } from './LinkDialog';
import { LinkTable } from './LinkTable';
import { NodePanel } from './NodePanel';
import { ReplayBar } from './ReplayBar';
import { Replay, ReplayContext } from './replay';
import { TrafficContext } from './traffic';
import { useTraffic } from './useTraffic';

const LinkMap = lazy(() => import('./LinkMap').then((module) => ({ default: module.LinkMap })));

function Legend() {
  const { legend } = words.topology;
  return (
    <div className="map-legend" aria-hidden="true">
      <span>── {legend.peer}</span>
      <span>─▸ {legend.reports}</span>
      <span>┄┄ {legend.off}</span>
      <span>
        <Hourglass /> {legend.held}
      </span>
      <span>‖ {legend.stopped}</span>
      <span className="map-legend__refused">✕ {legend.refused}</span>
      <span>
        <Lock /> moot.toml
      </span>
    </div>
  );
}

export default function TopologyPage() {
  const store = useStore();
  const toast = useToast();
  const [search, setSearch] = useSearchParams();
  const [view, setView] = useState<'map' | 'table'>(() => (window.innerWidth < 768 ? 'table' : 'map'));
  const [drawn, setDrawn] = useState<Drawn | null>(null);
  const links = useLive((live) => live.links);
  const agents = useDerived(
    (live) => [live.agents],
    (live) => Object.values(live.agents).filter((agent) => isAgent(agent.kind)).length,
  );
  const edge = search.get('edge');
  const node = search.get('node');
  const open = (id: string | null) => setSearch(id ? { edge: id } : {}, { replace: true });
  const openNode = (name: string | null) => setSearch(name ? { node: name } : {}, { replace: true });
  const [making, setMaking] = useState<{ linkTo: string } | null>(null);
  const owner = useLive((live) => live.owner);
  const [replay] = useState(() => new Replay());
  const traffic = useTraffic();
  const asked = search.get('at');
  const moment = (at: number | null) =>
    setSearch(at === null ? {} : { at: new Date(at).toISOString() }, { replace: true });
  const draw = (next: Drawn) => {
    const known = next.to ? between(Object.values(links), next.from, next.to) : undefined;
    if (!known) return setDrawn(next);
    toast(words.topology.already(next.from, next.to));
    open(known.id);
  };
  const place = async (positions: Record<string, Point>) => {
    store.learn((state) => ({ ...state, positions: { ...state.positions, ...positions } }));
    try {
      await call('PUT', '/api/topology/positions', { positions });
    } catch (error) {
      toast(errorText(error), { bad: true });
    }
  };
  const tidy = () => {
    const before = store.state.positions;
    void place(tidied(Object.keys(store.state.agents), Object.values(store.state.links)));
    toast(words.topology.moved, { undo: () => void place(before) });
  };
  const actions = (
    <>
      <Choice
        segments
        label={words.topology.view}
        options={[
          { value: 'map', label: words.topology.map },
          { value: 'table', label: words.topology.table },
        ]}
        value={view}
        onChange={(value) => setView(value as 'map' | 'table')}
      />
      <button
        type="button"
        className="plain-button plain-button--line"
        onClick={() => setDrawn({ from: '', to: '', relationship: 'peer' })}
      >
        {words.topology.link}
      </button>
      {owner && (
        <button type="button" className="plain-button plain-button--line" onClick={() => setMaking({ linkTo: '' })}>
          {words.topology.addAgent}
        </button>
      )}
      {view === 'map' && (
        <>
          <button type="button" className="plain-button plain-button--line" onClick={tidy}>
            {words.topology.tidy}
          </button>
          <button
            type="button"
            className="plain-button plain-button--line"
            aria-pressed={asked !== null}
            onClick={() => moment(asked === null ? Date.now() : null)}
          >
            {words.topology.replaying.title}
          </button>
        </>
      )}
    </>
  );
  return (
    <TrafficContext value={traffic}>
      <ReplayContext value={replay}>
        <Page title={words.topology.title} actions={actions} bare>
          {agents === 0 ? (
            <Empty title={words.topology.none}>
              <p>{words.topology.noneText}</p>
              <Command text={words.topology.noneCommand} />
            </Empty>
          ) : view === 'map' ? (
            <div className="map-frame">
              <Suspense fallback={<div className="shell__loading">{words.loading}</div>}>
                <LinkMap
                  selected={edge}
                  onDrawn={draw}
                  onOpen={open}
                  onSelf={() => toast(words.topology.self, { bad: true })}
                  onNode={openNode}
                  onNobody={(from) => setMaking({ linkTo: from })}
                />
              </Suspense>
              <Legend />
              {asked !== null && <ReplayBar replay={replay} at={Date.parse(asked) || null} onMoment={moment} />}
              {agents === 1 && (
                <p className="map-hint">
                  {words.topology.lonely}. {words.topology.lonelyText}
                </p>
              )}
            </div>
          ) : (
            <LinkTable onLink={(from) => setDrawn({ from, to: '', relationship: 'peer' })} onOpen={open} />
          )}
          {edge && links[edge] && <Inspector key={edge} id={edge} onClose={() => open(null)} />}
          {node && !edge && (
            <NodePanel
              key={node}
              name={node}
              onLink={() => setDrawn({ from: node, to: '', relationship: 'peer' })}
              onOpen={open}
              onClose={() => openNode(null)}
            />
          )}
          {making && (
            <NewAgent
              onClose={() => setMaking(null)}
              onMade={(name) =>
                making.linkTo ? setDrawn({ from: making.linkTo, to: name, relationship: 'peer' }) : openNode(name)
              }
            />
          )}
          {drawn && (
            <LinkDialog
              drawn={drawn}
              onClose={() => setDrawn(null)}
              onMade={(link) => {
                setDrawn(null);
                open(link.id);
              }}
            />
          )}
        </Page>
      </ReplayContext>
    </TrafficContext>
  );
}
