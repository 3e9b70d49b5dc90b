/** Something waits. Drawn, because not every machine has the letter. */
export function Hourglass() {
  return (
    <svg className="lock" viewBox="0 0 12 14" aria-hidden="true" focusable="false">
      <path d="M2 1h8M2 13h8M3 1v2.5L6 7l3-3.5V1M3 13v-2.5L6 7l3 3.5V13" />
    </svg>
  );
}
