/** A comparison of two texts. Signs tell what colours tell. */
import { diff } from './diff';

const SIGNS = { same: ' ', gone: '−', new: '+' };

export function DiffView({ before, after }: { before: string; after: string }) {
  return (
    <pre className="note-diff" data-testid="diff">
      {diff(before, after).map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines are their place
        <div key={index} className={`note-diff__line note-diff__line--${line.kind}`}>
          {SIGNS[line.kind]} {line.text}
        </div>
      ))}
    </pre>
  );
}
