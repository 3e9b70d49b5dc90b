/** The hub's settings, each with who decides it; changed as on the command line. */
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { call, errorText, get } from '@/api/client';
import { useLive } from '@/live/hooks';
import { ErrorNotice } from '@/parts/Page';
import { useToast } from '@/parts/Toasts';
import { words } from '@/words';

interface Setting {
  key: string;
  value: unknown;
  source: string;
  meaning: string;
  takes: string;
  needs_restart: boolean;
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Lists as people write them; what is edited stays as the command line takes it. */
const read = (value: unknown): string => (Array.isArray(value) ? value.map(shown).join(', ') : shown(value));

/** A sentence in which what is typed stands between backticks. */
function Meaning({ text }: { text: string }) {
  return (
    <div className="muted small">
      {text.split('`').map((part, index) =>
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of a sentence are their place
        index % 2 ? <code key={index}>{part}</code> : part,
      )}
    </div>
  );
}

function Row({ setting, onSaved }: { setting: Setting; onSaved: () => void }) {
  const toast = useToast();
  const [text, setText] = useState<string | null>(null);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await call('PUT', `/api/settings/${encodeURIComponent(setting.key)}`, { value: text });
      setText(null);
      onSaved();
    } catch (error) {
      toast(errorText(error), { bad: true });
    }
  };
  return (
    <tr>
      <td>
        <code>{setting.key}</code>
        <Meaning text={setting.meaning} />
      </td>
      <td>
        {text === null ? (
          <span className="row">
            <span className="mono settings__value">{read(setting.value)}</span>
            <button
              type="button"
              className="plain-button"
              onClick={() => setText(shown(setting.value))}
              aria-label={`${words.settings.edit}: ${setting.key}`}
            >
              {words.settings.edit}
            </button>
          </span>
        ) : (
          <form className="row" onSubmit={save}>
            <input
              className="field"
              aria-label={setting.key}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
            <button type="submit" className="plain-button plain-button--main">
              {words.save}
            </button>
            <button type="button" className="plain-button" onClick={() => setText(null)}>
              {words.cancel}
            </button>
          </form>
        )}
      </td>
      <td className="small muted settings__wide">
        {setting.source}
        {setting.needs_restart && ` · ${words.settings.restart}`}
      </td>
    </tr>
  );
}

/** `only`: those whose keys match. */
export function HubSettings({ only }: { only?: RegExp }) {
  const owner = useLive((live) => live.owner);
  const version = useLive((live) => live.versions.settings);
  const answer = useQuery({
    queryKey: ['settings', version],
    queryFn: () => get<{ settings: Setting[] }>('/api/settings'),
    enabled: owner,
    retry: false,
    placeholderData: (before) => before,
  });
  const shownRows = (answer.data?.settings ?? []).filter((setting) => !only || only.test(setting.key));
  if (!owner) return <p className="muted">{words.settings.ownerOnly}</p>;
  if (answer.error) return <ErrorNotice text={errorText(answer.error)} />;
  if (!shownRows.length) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
    <div className="table-scroll" tabIndex={0}>
      <table className="grid grid--cards">
        <thead>
          <tr>
            <th scope="col">{words.settings.key}</th>
            <th scope="col">{words.settings.value}</th>
            <th scope="col" className="settings__wide">
              {words.settings.decided}
            </th>
          </tr>
        </thead>
        <tbody>
          {shownRows.map((setting) => (
            <Row key={setting.key} setting={setting} onSaved={() => void answer.refetch()} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
