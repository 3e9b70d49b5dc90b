/** The map: drag to link, keys for everything, places kept by the hub. Events change nodes and edges, never their places. */
import '@xyflow/react/dist/style.css';
import {
  type Connection,
  ConnectionMode,
  Controls,
  type Edge,
  MarkerType,
  type Node,
  type OnConnectEnd,
  ReactFlow,
  useNodesState,
} from '@xyflow/react';
import { type KeyboardEvent, useCallback, useContext, useEffect, useMemo, useRef } from 'react';
import { call } from '@/api/client';
import type { Link, Point } from '@/api/shapes';
import { useDerived, useLive, useStore } from '@/live/hooks';
import { lettersOn } from '@/parts/preferences';
import { words } from '@/words';
import { AgentNode } from './AgentNode';
import { placesOf, relationshipOf, sidesOf } from './graph';
import type { Drawn } from './LinkDialog';
import { LinkEdge } from './LinkEdge';
import { TrafficContext, useTrafficVersion } from './traffic';

const NODES = { agent: AgentNode };
const EDGES = { link: LinkEdge };
const MARKER = { type: MarkerType.ArrowClosed, color: 'var(--line-strong)', width: 18, height: 18 };
const SAVE_MS = 400;

function edgeOf(link: Link, places: Record<string, Point>, selected: boolean, count: number): Edge {
  const sides = sidesOf(link, places);
  const down = link.relationship === 'superior' || link.direction === 'one_way';
  return {
    id: link.id,
    type: 'link',
    source: link.from,
    target: link.to,
    sourceHandle: sides.source,
    targetHandle: sides.target,
    selected,
    ariaLabel: words.topology.edge(link.sentence, count),
    ...(down ? { markerEnd: MARKER } : {}),
    ...(link.relationship === 'subordinate' ? { markerStart: { ...MARKER, orient: 'auto-start-reverse' } } : {}),
  };
}

interface Props {
  selected: string | null;
  onDrawn(drawn: Drawn): void;
  onOpen(id: string | null): void;
  onSelf(): void;
  onNode(name: string): void;
  /** A line was let go where nobody stands. */
  onNobody(from: string): void;
}

export function LinkMap({ selected, onDrawn, onOpen, onSelf, onNode, onNobody }: Props) {
  const store = useStore();
  const names = useDerived(
    (live) => [Object.keys(live.agents).join('\n')],
    (live) => Object.keys(live.agents),
  );
  const links = useLive((live) => live.links);
  const kept = useLive((live) => live.positions);
  const places = useMemo(() => placesOf(names, Object.values(links), kept), [names, links, kept]);
  const fresh = useMemo(
    () =>
      names.map(
        (name): Node => ({
          id: name,
          type: 'agent',
          position: places[name] ?? { x: 0, y: 0 },
          data: {},
          ariaLabel: name,
        }),
      ),
    [names, places],
  );
  const [nodes, setNodes, onNodesChange] = useNodesState(fresh);
  useEffect(() => {
    setNodes((before) => {
      const known = new Map(before.map((node) => [node.id, node]));
      return fresh.map((node) => {
        const old = known.get(node.id);
        return old && (old.dragging || (old.position.x === node.position.x && old.position.y === node.position.y))
          ? old
          : { ...old, ...node };
      });
    });
  }, [fresh, setNodes]);
  const traffic = useContext(TrafficContext);
  const counted = useTrafficVersion();
  // biome-ignore lint/correctness/useExhaustiveDependencies: counts are read again when they were made anew
  const edges = useMemo(
    () => Object.values(links).map((link) => edgeOf(link, places, link.id === selected, traffic.count(link.channel))),
    [links, places, selected, traffic, counted],
  );

  const waiting = useRef<Record<string, Point>>({});
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const keep = useCallback(
    (moved: Record<string, Point>) => {
      waiting.current = { ...waiting.current, ...moved };
      if (timer.current) clearTimeout(timer.current);
      timer.current = setTimeout(() => {
        const positions = waiting.current;
        waiting.current = {};
        store.learn((state) => ({ ...state, positions: { ...state.positions, ...positions } }));
        void call('PUT', '/api/topology/positions', { positions }).catch(() => {});
      }, SAVE_MS);
    },
    [store],
  );
  const changed = useCallback<typeof onNodesChange>(
    (changes) => {
      onNodesChange(changes);
      for (const change of changes)
        if (change.type === 'position' && change.position && !change.dragging) keep({ [change.id]: change.position });
    },
    [onNodesChange, keep],
  );
  const connected = useCallback(
    ({ source, target, sourceHandle, targetHandle }: Connection) => {
      if (source === target) onSelf();
      else onDrawn({ from: source, to: target, relationship: relationshipOf(sourceHandle, targetHandle) });
    },
    [onDrawn, onSelf],
  );
  const ended = useCallback<OnConnectEnd>(
    (_event, state) => {
      if (state.fromNode && state.toNode && state.fromNode.id === state.toNode.id) onSelf();
      else if (state.fromNode && !state.toNode) onNobody(state.fromNode.id);
    },
    [onSelf, onNobody],
  );
  const pressed = (event: KeyboardEvent) => {
    const node = (event.target as HTMLElement).closest<HTMLElement>('.react-flow__node')?.dataset.id;
    const edge = (event.target as HTMLElement).closest<HTMLElement>('.react-flow__edge')?.dataset.id;
    if (node && event.key.toLowerCase() === 'l' && lettersOn() && !event.ctrlKey && !event.metaKey)
      onDrawn({ from: node, to: '', relationship: 'peer' });
    else if (edge && event.key === 'Enter') onOpen(edge);
    else if (node && event.key === 'Enter') onNode(node);
    else return;
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the nodes and edges inside
    <div className="map" onKeyDown={pressed}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODES}
        edgeTypes={EDGES}
        onNodesChange={changed}
        onConnect={connected}
        onConnectEnd={ended}
        onNodeClick={(_event, node) => onNode(node.id)}
        onEdgeClick={(_event, edge) => onOpen(edge.id)}
        onPaneClick={() => onOpen(null)}
        connectionMode={ConnectionMode.Loose}
        connectionRadius={36}
        deleteKeyCode={null}
        fitView
        fitViewOptions={{ padding: 0.2, maxZoom: 1 }}
        minZoom={0.2}
        nodesFocusable
        edgesFocusable
        proOptions={{ hideAttribution: true }}
        aria-label={words.topology.canvas}
      >
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}
