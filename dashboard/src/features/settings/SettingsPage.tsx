/** Settings: yours, in this browser; and the hub's, with where each is decided. */
import { Tabs, useMantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { get } from '@/api/client';
import type { Status } from '@/api/shapes';
import { useDerived, useLive } from '@/live/hooks';
import { isAgent } from '@/live/state';
import { Command } from '@/parts/Command';
import { Choice, Switch } from '@/parts/Fields';
import { Page } from '@/parts/Page';
import { lettersOn, type Motion, motion, setLetters, setMotion } from '@/parts/preferences';
import { fullTime } from '@/parts/time';
import { useSession } from '@/session/hooks';
import { words } from '@/words';
import { Access } from './Access';
import { HubSettings } from './HubSettings';
import { Bridges, CodingClis, Data } from './Tools';
import './settings.css';

function You() {
  const session = useSession();
  const self = useLive((live) => live.self);
  return (
    <div className="stack">
      <p>{words.settings.signedInAs(self)}</p>
      <p className="muted small">{words.settings.youText}</p>
      <div>
        <button type="button" className="plain-button plain-button--line" onClick={() => void session.signOut()}>
          {words.settings.signOut}
        </button>
      </div>
    </div>
  );
}

function Appearance() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [moves, setMoves] = useState<Motion>(motion());
  const [letters, setLettersOn] = useState(lettersOn());
  const { themes, motions } = words.settings;
  return (
    <div className="stack">
      <div>
        <div className="label">{words.settings.theme}</div>
        <Choice
          segments
          label={words.settings.theme}
          value={colorScheme}
          onChange={(value) => setColorScheme(value as 'auto' | 'dark' | 'light')}
          options={(['auto', 'dark', 'light'] as const).map((value) => ({ value, label: themes[value] }))}
        />
      </div>
      <div>
        <div className="label">{words.settings.motion}</div>
        <Choice
          segments
          label={words.settings.motion}
          value={moves}
          onChange={(value) => {
            setMoves(value as Motion);
            setMotion(value as Motion);
          }}
          options={(['system', 'off'] as const).map((value) => ({ value, label: motions[value] }))}
        />
      </div>
      <Switch
        label={words.settings.keys}
        description={words.settings.keysText}
        checked={letters}
        onChange={(checked) => {
          setLettersOn(checked);
          setLetters(checked);
        }}
      />
    </div>
  );
}

function Brains() {
  const brains = useDerived(
    (live) => [live.agents],
    (live) => {
      const users = new Map<string, string[]>();
      for (const agent of Object.values(live.agents))
        if (isAgent(agent.kind))
          users.set(agent.brain || agent.kind, [...(users.get(agent.brain || agent.kind) ?? []), agent.name]);
      return [...users];
    },
  );
  return (
    <div className="stack">
      <table className="grid">
        <thead>
          <tr>
            <th scope="col">{words.settings.brain}</th>
            <th scope="col">{words.settings.usedBy}</th>
          </tr>
        </thead>
        <tbody>
          {brains.map(([brain, users]) => (
            <tr key={brain}>
              <td>
                {brain} {brain.startsWith('demo') && <span className="muted small">{words.settings.demoText}</span>}
              </td>
              <td>{users.join(', ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="muted">{words.settings.brainsText}</p>
      <div>
        <Command text={words.settings.brainsCommand} />
      </div>
    </div>
  );
}

function About() {
  const answer = useQuery({ queryKey: ['status'], queryFn: () => get<Status>('/api/status') });
  return (
    <div className="stack">
      <dl className="settings__facts">
        <dt>{words.settings.version}</dt>
        <dd>{answer.data?.version}</dd>
        <dt>{words.settings.started}</dt>
        <dd>{fullTime(answer.data?.started_at)}</dd>
        <dt>{words.settings.address}</dt>
        <dd>{window.location.origin}</dd>
      </dl>
      <p className="muted">{words.settings.doctor}</p>
      <div>
        <Command text="moot doctor" />
      </div>
      <p className="muted small">{words.settings.licence}</p>
    </div>
  );
}

const PANELS: Record<string, () => React.JSX.Element> = {
  you: You,
  brains: Brains,
  defaults: () => <HubSettings />,
  bridges: Bridges,
  clis: CodingClis,
  appearance: Appearance,
  data: Data,
  access: Access,
  about: About,
};

export default function SettingsPage({ params }: { params: Record<string, string | undefined> }) {
  const [, go] = useLocation();
  const tab = params.tab && params.tab in PANELS ? params.tab : 'you';
  const Panel = PANELS[tab] as () => React.JSX.Element;
  return (
    <Page title={words.settings.title}>
      <Tabs value={tab} onChange={(next) => go(`/settings/${next}`, { replace: true })}>
        <Tabs.List>
          {Object.entries(words.settings.tabs).map(([value, label]) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={tab} className="settings__panel">
          <Panel />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
