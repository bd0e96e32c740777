/** Where PDFs find fonts for scripts that the executable has no font for. */

import { homedir } from 'node:os';
import { join } from 'node:path';

/** The paths of the administrator, then where fontconfig looks, and the folders of macOS and Windows. */
export function fontPaths(configured: string[]): string[] {
  const home = homedir();
  return [
    ...configured,
    ...['/usr/share/fonts', '/usr/local/share/fonts'],
    ...[join(home, '.local/share/fonts'), join(home, '.fonts')],
    ...['/System/Library/Fonts', '/Library/Fonts', join(home, 'Library/Fonts')],
    ...['C:/Windows/Fonts', join(home, 'AppData/Local/Microsoft/Windows/Fonts')],
  ];
}
