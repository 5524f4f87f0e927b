// The form in which what browsers and apps hold is stored.
import { hash } from 'node:crypto';

export function digest(id: string): string {
  return hash('sha256', id, 'base64url');
}
