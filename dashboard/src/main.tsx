/** Where the page starts: the code leaves the address first, then somebody is signed in or told how. */
import '@mantine/core/styles.css';
import './theme/tokens.css';
import './theme/base.css';
import { setNonce } from 'get-nonce';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import { applyPreferences } from './parts/preferences';
import { Session, takeCode } from './session/session';
import { followScreen } from './shell/screen';

const code = takeCode();
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
if (nonce) setNonce(nonce);
applyPreferences();
followScreen();

// A part that could not be loaded is tried once more, with the whole page: drafts are kept, and nothing else is lost.
window.addEventListener('vite:preloadError', () => {
  const last = Number(sessionStorage.getItem('moot.reloaded') ?? 0);
  if (Date.now() - last < 10_000) return;
  sessionStorage.setItem('moot.reloaded', String(Date.now()));
  window.location.reload();
});

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(<App session={new Session(window.sessionStorage)} code={code} nonce={nonce} />);
}
