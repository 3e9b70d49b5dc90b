/** Navigation on narrow screens: four places, the rest behind the last. */
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { needing, useNowAnswer } from '@/parts/now';
import { SidePanel } from '@/parts/SidePanel';
import { words } from '@/words';
import { PLACES } from './pages';
import { useUnread } from './unread';

const FIRST = ['/now', '/c', '/topology'];

export function BottomBar() {
  const [location] = useLocation();
  const [open, setOpen] = useState(false);
  const counts: Record<string, number> = { '/now': needing(useNowAnswer()).length, '/c': useUnread() };
  const first = PLACES.filter((place) => FIRST.includes(place.path));
  const rest = PLACES.filter((place) => !FIRST.includes(place.path));
  const here = (path: string) => (location === path || location.startsWith(`${path}/`) ? 'page' : undefined);
  return (
    <nav className="bottom-bar" aria-label={words.navigation}>
      {first.map((place) => (
        <Link key={place.path} href={place.path} className="bottom-bar__link" aria-current={here(place.path)}>
          <span aria-hidden="true">{place.glyph}</span>
          <span>{place.path === '/topology' ? words.nav.map : place.name}</span>
          {(counts[place.path] ?? 0) > 0 && <span className="badge bottom-bar__badge">{counts[place.path]}</span>}
        </Link>
      ))}
      <button type="button" className="bottom-bar__link" onClick={() => setOpen(true)} aria-haspopup="dialog">
        <span aria-hidden="true">⋯</span>
        <span>{words.nav.more}</span>
      </button>
      {open && (
        <SidePanel title={words.nav.more} onClose={() => setOpen(false)}>
          <div className="bottom-bar__rest">
            {rest.map((place) => (
              <Link
                key={place.path}
                href={place.path}
                className="sidebar__link"
                aria-current={here(place.path)}
                onClick={() => setOpen(false)}
              >
                <span className="sidebar__glyph" aria-hidden="true">
                  {place.glyph}
                </span>
                <span>{place.name}</span>
              </Link>
            ))}
          </div>
        </SidePanel>
      )}
    </nav>
  );
}
