/** An agent, or a person, on the map. It draws itself again when it changes; the map does not. */
import { Handle, type NodeProps, Position } from '@xyflow/react';
import { memo } from 'react';
import { useLive } from '@/live/hooks';
import { activityWords } from '@/parts/activity';
import { Mark } from '@/parts/Mark';
import { useNow } from '@/parts/useNow';
import { agentStyle, isBusy } from '@/theme/agents';
import { words } from '@/words';

const SIDES = [
  ['top', Position.Top],
  ['right', Position.Right],
  ['bottom', Position.Bottom],
  ['left', Position.Left],
] as const;

export const AgentNode = memo(function AgentNode({ id, selected }: NodeProps) {
  const agent = useLive((live) => live.agents[id]);
  const self = useLive((live) => live.self);
  const busy = isBusy(agent?.activity.state);
  const now = useNow(busy ? 1000 : null);
  const human = agent?.kind === 'human';
  return (
    <div
      className={`map-node${selected ? ' map-node--selected' : ''}${busy ? ' map-node--busy' : ''}`}
      style={agentStyle(id, agent?.color)}
    >
      {SIDES.map(([side, position]) => (
        <Handle key={side} id={side} type="source" position={position} />
      ))}
      <div className="row">
        {human ? (
          <span className="mark" aria-hidden="true">
            ◇
          </span>
        ) : (
          <Mark name={id} colour={agent?.color} state={agent?.activity.state} />
        )}
        <strong className="cut">{id}</strong>
        {id === self && <span className="muted small">({words.you})</span>}
      </div>
      <div className="map-node__state">
        {agent?.role && <span className="cut map-node__role">{agent.role}</span>}
        {!human && <span className="cut map-node__doing">{activityWords(agent, now)}</span>}
      </div>
    </div>
  );
});
