/** What some server or other takes for the end of data, though it is none (RFC 5321 §4.1.1.4). */

const NAMES = [
  '<LF>.<LF>',
  '<LF>.<CR><LF>',
  '<CR>.<CR>',
  '<CR>.<CR><LF>',
  '<CR><LF>.<CR>',
  '<LF>.<CR>',
  '<CR>.<LF>',
  '<CR><LF>.<LF>',
  '<CR><CR><LF>.<CR><LF>',
  '<CR><LF><NUL>.<CR><LF>',
];

/** The name and the bytes. */
export const FALSE_ENDS: [string, string][] = NAMES.map((name) => [
  name,
  name.replaceAll('<CR>', '\r').replaceAll('<LF>', '\n').replaceAll('<NUL>', '\0'),
]);
