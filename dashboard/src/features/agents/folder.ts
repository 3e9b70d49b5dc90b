/** The folder an agent works in, as people read it: `.` says that it has none of its own. */
export const folderOf = (project: string | null | undefined): string => (project && project !== '.' ? project : '—');
