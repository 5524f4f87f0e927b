// Random texts for properties.
import fc from 'fast-check';

const between = (min: number, max: number) =>
  fc.integer({ min, max }).map((code) => String.fromCodePoint(code));

const unit = fc.oneof(between(0, 0x7f), between(0x80, 0xd7ff), between(0xe000, 0x10ffff));

/**
 * A text of any characters, a third of them ASCII. fast-check's own unit for that, `binary`, takes
 * a second to be built in every file that uses it.
 */
export function anyText({ maxLength }: { maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ unit, ...(maxLength !== undefined && { maxLength }) });
}
