/** What can be done with an agent. What cannot says why. */
import { useLocation } from 'wouter';
import { call, errorText } from '@/api/client';
import type { Agent, Conversation } from '@/api/shapes';
import { Command } from '@/parts/Command';
import { Drop } from '@/parts/Drop';
import { useToast } from '@/parts/Toasts';
import { words } from '@/words';

interface Pong {
  reachability: string;
  milliseconds: number | null;
}

function Button({ text, onClick, title }: { text: string; onClick?: () => void; title?: string }) {
  return (
    <button type="button" className="plain-button plain-button--line" onClick={onClick} title={title}>
      {text}
    </button>
  );
}

export function AgentActs({ agent, owner }: { agent: Agent; owner: boolean }) {
  const toast = useToast();
  const [, go] = useLocation();
  const path = `/api/agents/${encodeURIComponent(agent.name)}`;
  const tried = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      toast(errorText(error), { bad: true });
    }
  };
  const act = (verb: string) => tried(() => call('POST', `${path}/${verb}`));
  const chat = () =>
    tried(async () => {
      const found = await call<Conversation>('POST', '/api/implicit', { participants: [agent.name] });
      go(`/c/${encodeURIComponent(found.id)}`);
    });
  const ping = () =>
    tried(async () => {
      const pong = await call<Pong>('POST', `${path}/ping`);
      toast(
        words.agents.pong(
          agent.name,
          pong.reachability,
          pong.milliseconds === null ? null : Math.round(pong.milliseconds),
        ),
      );
    });
  const away = agent.activity.state === 'offline';
  const paused = agent.activity.state === 'paused';
  return (
    <div className="row agents__acts">
      <Button text={words.agents.chat} onClick={chat} />
      {owner &&
        agent.kind === 'agent' &&
        (away ? (
          <Button text={words.agents.start} onClick={() => act('start')} />
        ) : (
          <Button text={words.agents.stop} onClick={() => act('stop')} />
        ))}
      {owner && !away && (
        <Button
          text={paused ? words.agents.resume : words.agents.pause}
          onClick={() => act(paused ? 'resume' : 'pause')}
        />
      )}
      {owner && <Button text={words.agents.ping} onClick={ping} />}
      {away && (
        <Drop text={words.agents.howToWake}>
          <p>{words.agents.wake(agent.name)}</p>
          <p className="muted small">{words.agents.wakeHow(agent.kind)}</p>
          <Command text={words.agents.wakeCommand(agent.name, agent.kind)} />
        </Drop>
      )}
    </div>
  );
}
