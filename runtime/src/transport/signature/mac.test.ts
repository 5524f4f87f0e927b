// The HMAC is that of node:crypto.
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { createMac } from './mac.ts';

const ascii = (maxLength: number) => fc.string({ unit: 'binary-ascii', maxLength });

test('is the HMAC of node:crypto, for secrets and texts of any length', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 100 }),
      fc.array(ascii(500)),
      (key, texts) => {
        const mac = createMac(key);
        for (const text of [...texts, '', texts.join('').repeat(50)])
          expect(mac(text)).toBe(createHmac('sha256', key).update(text).digest('base64'));
      },
    ),
  );
});

test('is the HMAC of node:crypto, around the limits of a block and of headers', () => {
  for (const length of [1, 63, 64, 65, 200])
    for (const size of [0, 1, 63, 64, 19_999, 20_000, 20_001]) {
      const [key, text] = ['k'.repeat(length), 't'.repeat(size)];
      expect(createMac(key)(text)).toBe(createHmac('sha256', key).update(text).digest('base64'));
    }
});
