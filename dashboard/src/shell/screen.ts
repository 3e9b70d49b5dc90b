/**
 * Some browsers lay the on-screen keyboard over the page instead of making the page smaller: the page then takes the part
 * that is left, so that what is being written stays in sight.
 */
export function followScreen(): void {
  const view = window.visualViewport;
  if (!view) return;
  const fit = () => {
    // Somebody who zoomed in sees a part of the page, and wants to.
    if (view.scale > 1) return;
    document.documentElement.style.setProperty('--screen', `${view.height}px`);
    window.scrollTo(0, 0);
  };
  view.addEventListener('resize', fit);
}
