/** Data: backups that the hub makes and verifies, and conversations that are brought in from a file. */
import { useQuery } from '@tanstack/react-query';
import { type ChangeEvent, useState } from 'react';
import { call, errorText, get } from '@/api/client';
import type { Imported, ListedBackup, Status } from '@/api/shapes';
import { useDerived, useLive } from '@/live/hooks';
import { Command } from '@/parts/Command';
import { ErrorNotice } from '@/parts/Page';
import { useToast } from '@/parts/Toasts';
import { fullTime } from '@/parts/time';
import { words } from '@/words';
import { HubSettings } from './HubSettings';
import { Commands } from './Tools';

const MOST_BYTES = 900_000;

function Backups() {
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  const answer = useQuery({
    queryKey: ['backups'],
    queryFn: () => get<{ backups: ListedBackup[] }>('/api/backups'),
    retry: false,
  });
  const make = async () => {
    setBusy(true);
    try {
      const made = await call<{ messages: number; bytes: number }>('POST', '/api/backups');
      toast(words.settings.backedUp(made.messages));
      await answer.refetch();
    } catch (error) {
      toast(errorText(error), { bad: true });
    }
    setBusy(false);
  };
  const { settings } = words;
  const rows = answer.data?.backups ?? [];
  return (
    <section className="stack">
      <h2>{settings.backups}</h2>
      <p className="muted">{settings.backupsText}</p>
      <div>
        <button type="button" className="plain-button plain-button--main" onClick={make} disabled={busy}>
          {busy ? settings.backingUp : settings.backUp}
        </button>
      </div>
      {answer.error && <ErrorNotice text={errorText(answer.error)} />}
      {rows.length > 0 ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
        <div className="table-scroll" tabIndex={0}>
          <table className="grid grid--cards" data-testid="backups">
            <thead>
              <tr>
                <th scope="col">{settings.backup.name}</th>
                <th scope="col">{settings.backup.at}</th>
                <th scope="col">{settings.backup.kind}</th>
                <th scope="col">{settings.backup.size}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.name}>
                  <td className="mono small">{row.name}</td>
                  <td>{fullTime(row.at)}</td>
                  <td>{row.kind}</td>
                  <td>{settings.bytes(row.bytes)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <p className="muted">{settings.noBackups}</p>
      )}
      <Commands rows={settings.restoring} />
    </section>
  );
}

interface Chosen {
  name: string;
  text: string;
  plan: Imported;
}

function Import() {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [done, setDone] = useState<Imported | null>(null);
  const [error, setError] = useState('');
  const bring = (text: string, dry: boolean) => call<Imported>('POST', '/api/imports', { text, dry_run: dry });
  const choose = async (event: ChangeEvent<HTMLInputElement>) => {
    const file = event.target.files?.[0];
    setChosen(null);
    setDone(null);
    setError('');
    if (!file) return;
    if (file.size > MOST_BYTES) return setError(words.settings.importTooLarge(file.name));
    try {
      const text = await file.text();
      setChosen({ name: file.name, text, plan: await bring(text, true) });
    } catch (reason) {
      setError(errorText(reason));
    }
  };
  const run = async () => {
    if (!chosen) return;
    try {
      setDone(await bring(chosen.text, false));
      setChosen(null);
    } catch (reason) {
      setError(errorText(reason));
    }
  };
  const { settings } = words;
  const shown = done ?? chosen?.plan;
  return (
    <section className="stack">
      <h2>{settings.importTitle}</h2>
      <p className="muted">{settings.importText}</p>
      <label className="labelled">
        {settings.importFile}
        <input type="file" className="field" accept=".jsonl,application/jsonl" onChange={choose} />
      </label>
      {error && <ErrorNotice text={error} />}
      {shown && (
        <ul className="settings__plan" data-testid="import" data-done={done !== null}>
          {shown.conversations.map((one) => (
            <li key={one.called}>{settings.importRow(one.called, one.messages, one.state, done !== null)}</li>
          ))}
          {shown.people
            .filter((one) => !one.known)
            .map((one) => (
              <li key={one.called}>{settings.importPerson(one.called, one.kind, done !== null)}</li>
            ))}
        </ul>
      )}
      {chosen && (
        <div>
          <button type="button" className="plain-button plain-button--main" onClick={run}>
            {settings.importNow}
          </button>
        </div>
      )}
      <Command text="moot import FILE --dry-run" />
    </section>
  );
}

export function Data() {
  const owner = useLive((live) => live.owner);
  const answer = useQuery({ queryKey: ['status'], queryFn: () => get<Status>('/api/status') });
  const messages = useDerived(
    (live) => [live.conversations],
    (live) => Object.values(live.conversations).reduce((sum, one) => sum + (one.head ?? 0), 0),
  );
  return (
    <div className="stack settings__data">
      <p>{words.settings.dataText(messages, answer.data?.position ?? 0)}</p>
      {owner && <Backups />}
      {owner && <Import />}
      <section className="stack">
        <h2>{words.export}</h2>
        <Commands rows={words.settings.exporting} />
      </section>
      <HubSettings only={/^(store|log|housekeeping)\./} />
    </div>
  );
}
