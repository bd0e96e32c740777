/** SPF, each DKIM signature and DMARC: the result, the domain that it speaks for, and whether that is yours. */

import { authenticationOf, type Identifier } from '../authentication.ts';
import type { Report } from '../report.ts';
import { alignmentFigure, joint } from './alignment-figure.ts';
import { BODY, paragraph, SMALL, section } from './blocks.ts';
import type { Sheet } from './sheet.ts';
import { shown } from './shown-text.ts';
import { authMark, mark } from './states.ts';
import { type Cell, table } from './table.ts';

export function authenticationSection(sheet: Sheet, report: Report): void {
  const { fromDomain, identifiers, dmarc, ignored } = authenticationOf(report);
  section(sheet, 'Authentication', () => {
    paragraph(
      sheet,
      'DMARC passes where SPF or a DKIM signature passes for a domain that belongs to the one in From: that is alignment.',
    );
    sheet.y += 8;
    alignmentFigure(sheet, fromDomain, identifiers);
    const outcome: Cell[] = [
      'DMARC',
      authMark(dmarc.result),
      told(fromDomain ?? 'From names no one domain', [
        ...(dmarc.policy ? [`policy ${dmarc.policy}`] : []),
        dmarc.record ? `record ${dmarc.record}` : 'no record',
        ...(dmarc.at ? [`at ${dmarc.at}`] : []),
      ]),
      '',
    ];
    table(
      sheet,
      [
        { title: 'Mechanism', share: 13 },
        { title: 'Result', share: 18 },
        { title: 'Domain', share: 45 },
        { title: 'With the From domain', share: 24 },
      ],
      [...identifiers.map(identifierRow), outcome],
    );
    if (ignored === 0) return;
    sheet.y += 4;
    paragraph(sheet, `${ignored} more DKIM signatures were not looked at.`, { style: SMALL });
  });
}

function identifierRow(identifier: Identifier): Cell[] {
  const { mechanism, result, domain, notes } = identifier;
  const { state, word } = joint(identifier);
  return [
    mechanism,
    authMark(result),
    told(domain ?? 'no domain', notes),
    domain === null ? '–' : mark(state, word),
  ];
}

const told = (value: string, notes: string[]): Cell => ({
  parts: [
    { text: shown(value, 255), style: BODY },
    ...(notes.length > 0 ? [{ text: shown(notes.join(' · '), 500), style: SMALL }] : []),
  ],
});
