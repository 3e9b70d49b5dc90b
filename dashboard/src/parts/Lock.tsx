/** A small lock: what carries it is decided in a file. */
export function Lock() {
  return (
    <svg className="lock" viewBox="0 0 11 12" aria-hidden="true">
      <rect x="1" y="5" width="9" height="6" rx="1.4" />
      <path d="M3 5V3.4a2.5 2.5 0 0 1 5 0V5" />
    </svg>
  );
}
