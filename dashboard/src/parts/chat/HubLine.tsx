/** A line of the hub itself: a task is called by what it is about, and leads to it. */
import { Link } from 'wouter';
import { useLive } from '@/live/hooks';
import { plainLine, taskHref, taskIn, taskTitle } from '../talks';

export function HubLine({ text }: { text: string }) {
  const line = plainLine(text);
  const found = taskIn(line);
  const task = useLive((live) => (found ? live.tasks[found.id] : undefined));
  if (!found) return line;
  return (
    <>
      {found.before}
      {task && (
        <>
          {' '}
          <Link href={taskHref(task.id)}>{taskTitle(task)}</Link>
        </>
      )}
      {found.after}
    </>
  );
}
