-- The open parts of a task are looked up by the branch in which their ends are awaited.

CREATE INDEX tasks_awaited_in ON tasks (asked_in) WHERE asked_in <> '';
