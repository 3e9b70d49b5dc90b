/** The mark before a name: shape is identity, fill is activity. */
import { agentStyle, markFor } from '@/theme/agents';

interface Props {
  name: string;
  colour?: number | null | undefined;
  mark?: string | undefined;
  state?: string | undefined;
  filled?: boolean;
}

export function Mark({ name, colour, mark = '●', state, filled = false }: Props) {
  return (
    <span className="mark" aria-hidden="true" style={agentStyle(name, colour)}>
      {filled ? mark : markFor(mark, state)}
    </span>
  );
}

export function Name({ name, colour }: { name: string; colour?: number | null | undefined }) {
  return (
    <span className="name" style={agentStyle(name, colour)}>
      {name}
    </span>
  );
}
