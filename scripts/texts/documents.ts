/** The words of all report documents; page, PDF and text show the same. A line is shown once. */

import { renderText } from '../../src/report/text.ts';
import { allDocuments } from '../../test/report/documents.ts';

/** A line shorter than this is shown wherever it stands: it may be a heading or a figure. */
const REPEATED_LENGTH = 25;

export async function documentTexts(): Promise<[name: string, text: string][]> {
  const seen = new Set<string>();
  const isNew = (line: string) => {
    if (line.length < REPEATED_LENGTH) return true;
    const isKnown = seen.has(line.trim());
    seen.add(line.trim());
    return !isKnown;
  };
  return (await allDocuments())
    .filter(([name]) => !/^(?:campaign|six) shared|HOSTILE/.test(name))
    .map(([name, document]) => {
      const text = renderText(document, { width: 100, color: false });
      return [name, `${document.title}\n\n${text.split('\n').filter(isNew).join('\n')}`];
    });
}
