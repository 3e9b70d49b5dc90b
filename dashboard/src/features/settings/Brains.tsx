/** Providers of models: who thinks with them, which key they have, and whether they take it. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, errorText, get } from '@/api/client';
import type { ModelProvider, TriedProvider } from '@/api/shapes';
import { useDerived, useLive } from '@/live/hooks';
import { isAgent } from '@/live/state';
import { Command } from '@/parts/Command';
import { ErrorNotice } from '@/parts/Page';
import { words } from '@/words';

function keyOf(provider: ModelProvider): string {
  const { settings } = words;
  if (!provider.ending) return settings.noKey;
  return settings.keyFrom(provider.ending, provider.variable ?? provider.source ?? '');
}

function Provider({ provider }: { provider: ModelProvider }) {
  const [tried, setTried] = useState<string | null>(null);
  const test = async () => {
    setTried(words.settings.testing);
    try {
      const path = `/api/providers/${encodeURIComponent(provider.name)}/test`;
      const found = await call<TriedProvider>('POST', path);
      setTried(found.answers ? words.settings.tested(found.models) : `✕ ${found.problem}`);
    } catch (error) {
      setTried(errorText(error));
    }
  };
  return (
    <tr>
      <td>{provider.name}</td>
      <td>
        {keyOf(provider)}
        {tried && (
          <div className="muted small" role="status">
            {tried}
          </div>
        )}
      </td>
      <td>{provider.agents.join(', ') || '—'}</td>
      <td>
        <button
          type="button"
          className="plain-button plain-button--line"
          onClick={test}
          aria-label={`${words.settings.test}: ${provider.name}`}
        >
          {words.settings.test}
        </button>
      </td>
    </tr>
  );
}

/** Agents that think without a provider: the demo brain, code, coding CLIs. */
function Others() {
  const brains = useDerived(
    (live) => [live.agents],
    (live) => {
      const users = new Map<string, string[]>();
      for (const agent of Object.values(live.agents))
        if (isAgent(agent.kind) && !/^(anthropic|openai):/.test(agent.brain ?? ''))
          users.set(agent.brain || agent.kind, [...(users.get(agent.brain || agent.kind) ?? []), agent.name]);
      return [...users];
    },
  );
  return (
    <>
      {brains.map(([brain, users]) => (
        <tr key={brain}>
          <td>{brain}</td>
          <td className="muted small">
            {brain.startsWith('demo') ? words.settings.demoText : words.settings.ownBrain}
          </td>
          <td>{users.join(', ')}</td>
          <td />
        </tr>
      ))}
    </>
  );
}

export function Brains() {
  const owner = useLive((live) => live.owner);
  const answer = useQuery({
    queryKey: ['providers'],
    queryFn: () => get<{ providers: ModelProvider[] }>('/api/providers'),
    enabled: owner,
    retry: false,
  });
  const { settings } = words;
  return (
    <div className="stack">
      {answer.error && <ErrorNotice text={errorText(answer.error)} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys */}
      <div className="table-scroll" tabIndex={0}>
        <table className="grid grid--cards">
          <thead>
            <tr>
              <th scope="col">{settings.brain}</th>
              <th scope="col">{settings.providerKey}</th>
              <th scope="col">{settings.usedBy}</th>
              <th scope="col">{settings.test}</th>
            </tr>
          </thead>
          <tbody>
            <Others />
            {(answer.data?.providers ?? []).map((provider) => (
              <Provider key={provider.name} provider={provider} />
            ))}
          </tbody>
        </table>
      </div>
      <p className="muted">{settings.brainsText}</p>
      <div>
        <Command text={settings.brainsCommand} />
      </div>
    </div>
  );
}
