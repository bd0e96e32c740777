/** The icon of the service, for browsers that request it by its well-known path. Pages contain it. */

import { route } from '../../http/route.ts';
import { ICON_SVG } from '../../ui/frame.tsx';

/** The same mark with 32 × 32 pixels, as a PNG in an ICO file: for browsers without SVG icons. */
const ICON_ICO = Buffer.from(
  'AAABAAEAICAAAAEAIABQAQAAFgAAAIlQTkcNChoKAAAADUlIRFIAAAAgAAAAIAgGAAAAc3p69AAAARdJREFUeNpjcLY4xTCQmGHUAaMOwCJoBMR9QLyKyrgPajZOB7AD8Rwg/k9jPAdqF4YD6GE5siNQHGBER8th2AjZAX3UtiAp8vL/pqo7/32dz+JS04fsgFXUtLw8/+b/Xz///QeB0yc+4FK3iiYOQLYcBN6/+00/B6BbDmKDxOjigJrSW6RYTpwDPOxOgw2O8LuA1/KJ3Q/+IwMiLCfOAQf2vgUb+PXLH5wGkmk5cQ4AJSB8BlNgOXEO6Gm9jzNe0S0HORaU90lIN8QlQvSUDQKwqKHActJyATZHUGg56dkQ5AjkNEGh5eSVAyDLYI6g0HIMBxBdGYHKBFAlQ6hsIAL3DarqeMAbJIOiSTbgjdLRfsGoAwYEAwD5oOigYINDngAAAABJRU5ErkJggg==',
  'base64',
);

const HEADERS = { 'cache-control': 'public, max-age=86400' };

const showIco = route({
  method: 'GET',
  path: '/favicon.ico',
  operation: 'showIconIco',
  role: 'public',
  summary: 'Get the icon of the service as an ICO file',
  produces: ['image/x-icon'],
  handle: () =>
    new Response(new Uint8Array(ICON_ICO), {
      headers: { 'content-type': 'image/x-icon', ...HEADERS },
    }),
});

const showSvg = route({
  method: 'GET',
  path: '/favicon.svg',
  operation: 'showIconSvg',
  role: 'public',
  summary: 'Get the icon of the service as SVG',
  produces: ['image/svg+xml'],
  handle: () =>
    new Response(ICON_SVG, { headers: { 'content-type': 'image/svg+xml', ...HEADERS } }),
});

export const iconRoutes = [showIco, showSvg];
