/** What surrounds every page: navigation, banner, palette, keys, the title of the tab. */
import { lazy, Suspense, useEffect, useState } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { useLine } from '@/live/hooks';
import { needing, useFreshNow, useNowAnswer } from '@/parts/now';
import { Empty } from '@/parts/Page';
import { decoded, useTitle } from '@/parts/talks';
import { words } from '@/words';
import './shell.css';
import { Banner } from './Banner';
import { BottomBar } from './BottomBar';
import { Boundary } from './Boundary';
import { useKeys } from './keys';
import { useNotices } from './notices';
import { PAGES, PLACES } from './pages';
import { Sidebar } from './Sidebar';
import { useVoice } from './voice';

const Palette = lazy(() => import('@/features/palette/Palette'));
const KeySheet = lazy(() => import('@/features/palette/KeySheet'));

/** What the tab is called: how much waits, then what is shown. */
function Title() {
  const waiting = needing(useNowAnswer()).length;
  const [location] = useLocation();
  const [, area = '', thing = ''] = location.split('/');
  const place = PLACES.find((one) => one.path === `/${area}`)?.name;
  const name = useTitle(area === 'links' ? `link:${decoded(thing)}` : decoded(thing));
  const here = thing && area !== 'settings' ? name : place;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${here ? `${here} · ` : ''}${words.product}`;
  }, [waiting, here]);
  return null;
}

function Pages() {
  const [location] = useLocation();
  return (
    <Boundary key={location.split('/')[1]}>
      <Suspense fallback={<div className="shell__loading">{words.loading}</div>}>
        <Switch>
          <Route path="/">
            <Redirect to="/now" replace />
          </Route>
          {PAGES.map(({ path, page: Shown }) => (
            <Route key={path} path={path}>
              {(params) => <Shown params={params as Record<string, string | undefined>} />}
            </Route>
          ))}
          <Route>
            <Empty title={words.gone.title}>
              <a href="/now">{words.gone.home}</a>
            </Empty>
          </Route>
        </Switch>
      </Suspense>
    </Boundary>
  );
}

export function Shell() {
  const line = useLine();
  const [palette, setPalette] = useState(false);
  const [sheet, setSheet] = useState(false);
  useFreshNow();
  useVoice();
  useNotices();
  useKeys({ palette: () => setPalette(true), sheet: () => setSheet(true) });
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {words.skip}
      </a>
      <Title />
      <Sidebar onPalette={() => setPalette(true)} />
      <div className="shell__main">
        <Banner />
        <main id="content" className="shell__content" tabIndex={-1} data-region="content" data-ready={line.ready}>
          {line.ready ? <Pages /> : <div className="shell__loading">{words.loading}</div>}
        </main>
        <BottomBar />
      </div>
      <Suspense>
        {palette && <Palette onClose={() => setPalette(false)} onKeys={() => setSheet(true)} />}
        {sheet && <KeySheet onClose={() => setSheet(false)} />}
      </Suspense>
    </div>
  );
}
