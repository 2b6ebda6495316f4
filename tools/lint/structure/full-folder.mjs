import path from 'node:path';
import { unusedReasons } from './workspace.mjs';

const MOST_FILES = 25;

/** Folders that stay flat although they have more files: the path, and the reason. */
export const REASONS = {};

/** A reader who scans a long flat folder cannot see its subjects. */
export default {
  name: 'full-folder',
  says: `more than ${MOST_FILES} product files in one folder`,
  find(workspace, reasons = REASONS) {
    const used = new Set();
    const found = fullFolders(workspace.products).flatMap(({ folder, count }) => {
      // Migrations are ordered by time, and their names begin with it.
      if (folder.endsWith('/migrations')) return [];
      if (reasons[folder]) {
        used.add(folder);
        return [];
      }
      return [
        {
          file: folder,
          line: 1,
          text: `${count} files; the limit is ${MOST_FILES}: move them into folders named after their subjects`,
        },
      ];
    });
    return [...found, ...unusedReasons('full-folder', reasons, used)];
  },
};

/** The folders that directly contain more files than the limit. */
export function fullFolders(files) {
  const counts = new Map();
  for (const file of files) {
    const folder = path.posix.dirname(file);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count > MOST_FILES).map(([folder, count]) => ({ folder, count }));
}
