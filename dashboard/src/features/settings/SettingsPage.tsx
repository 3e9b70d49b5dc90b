/** Settings: yours, in this browser; and the hub's, with where each is decided. */
import { Tabs, useMantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { get } from '@/api/client';
import type { Status } from '@/api/shapes';
import { useLive } from '@/live/hooks';
import { Command } from '@/parts/Command';
import { Choice, Switch } from '@/parts/Fields';
import { Page } from '@/parts/Page';
import * as preferences from '@/parts/preferences';
import { fullTime } from '@/parts/time';
import { useSession } from '@/session/hooks';
import { words } from '@/words';
import { Access } from './Access';
import { Brains } from './Brains';
import { Data } from './Data';
import { HubSettings } from './HubSettings';
import { Notices } from './Notices';
import { Bridges, CodingClis } from './Tools';
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
      <Notices />
    </div>
  );
}

interface PickProps<T extends string> {
  label: string;
  names: Record<T, string>;
  choices: readonly T[];
  value: T;
  onChange(value: T): void;
}

function Pick<T extends string>({ label, names, choices, value, onChange }: PickProps<T>) {
  const [chosen, setChosen] = useState(value);
  return (
    <div>
      <div className="label">{label}</div>
      <Choice
        segments
        label={label}
        value={chosen}
        onChange={(next) => {
          setChosen(next as T);
          onChange(next as T);
        }}
        options={choices.map((one) => ({ value: one, label: names[one] }))}
      />
    </div>
  );
}

function Appearance() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [letters, setLetters] = useState(preferences.lettersOn());
  const { settings } = words;
  return (
    <div className="stack">
      <Pick
        label={settings.theme}
        names={settings.themes}
        choices={['auto', 'dark', 'light'] as const}
        value={colorScheme}
        onChange={setColorScheme}
      />
      <Pick
        label={settings.density}
        names={settings.densities}
        choices={preferences.DENSITIES}
        value={preferences.density()}
        onChange={preferences.setDensity}
      />
      <Pick
        label={settings.size}
        names={settings.sizes}
        choices={preferences.SIZES}
        value={preferences.size()}
        onChange={preferences.setSize}
      />
      <Pick
        label={settings.motion}
        names={settings.motions}
        choices={preferences.MOTIONS}
        value={preferences.motion()}
        onChange={preferences.setMotion}
      />
      <Switch
        label={settings.keys}
        description={settings.keysText}
        checked={letters}
        onChange={(checked) => {
          setLetters(checked);
          preferences.setLetters(checked);
        }}
      />
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
