// The two environments (docs/api.md, Keys).

export type Environment = 'sandbox' | 'production';
