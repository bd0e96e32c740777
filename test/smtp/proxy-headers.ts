/** Headers of the PROXY protocol, as a balancer writes them. */

/** Version 2: the command (0x21 PROXY, 0x20 LOCAL), the family and what follows the fixed part. */
export function binaryHeader(command: number, family: number, content: number[]): Buffer {
  return Buffer.concat([
    Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1'),
    Buffer.of(command, family, content.length >> 8, content.length & 0xff),
    Buffer.from(content),
  ]);
}
